/** Comments on flags, releases and changes. While a list is shown, new ones appear within seconds. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { client, type FlagPath } from "../../api/client";
import { readParts } from "../../api/pagedReads";
import { ask } from "../../api/problem";
import { ifMatch } from "../../api/states";
import type { components } from "../../api/schema";
import { CHANGES } from "../../api/changed";
import { allOf, outdate } from "../../api/queryKeys";

export type Comment = components["schemas"]["CommentOut"];

/** The subject of comments. */
export type CommentPlace =
  | { readonly kind: "flag"; readonly path: FlagPath }
  | { readonly kind: "release"; readonly path: FlagPath; readonly releaseId: string }
  | { readonly kind: "change"; readonly projectId: string; readonly changeId: string };

const PROJECT = "/api/projects/{project_id}";
const OF_FLAG = `${PROJECT}/environments/{env_id}/flags/{flag_id}/comments` as const;
const OF_RELEASE = `${PROJECT}/environments/{env_id}/flags/{flag_id}/releases/{release_id}/comments` as const;
const OF_CHANGE = `${PROJECT}/changes/{change_id}/comments` as const;
const ONE = `${PROJECT}/comments/{comment_id}` as const;
/** A page that is not visible does not poll. */
const LOOK_MILLISECONDS = 10_000;

export const projectOf = (place: CommentPlace): string =>
  place.kind === "change" ? place.projectId : place.path.project_id;

function listOf(place: CommentPlace) {
  switch (place.kind) {
    case "flag":
      return readParts(OF_FLAG, place.path);
    case "release":
      return readParts(OF_RELEASE, ofRelease(place));
    case "change":
      return readParts(OF_CHANGE, ofChange(place));
  }
}

export function commentsQuery(place: CommentPlace) {
  return { ...listOf(place), refetchInterval: LOOK_MILLISECONDS };
}

export function useWriteComment(place: CommentPlace) {
  return useMutation({
    mutationFn: (text: string) => {
      const body = { text };
      switch (place.kind) {
        case "flag":
          return ask(client.POST(OF_FLAG, { params: { path: place.path }, body }));
        case "release":
          return ask(client.POST(OF_RELEASE, { params: { path: ofRelease(place) }, body }));
        case "change":
          return ask(client.POST(OF_CHANGE, { params: { path: ofChange(place) }, body }));
      }
    },
    onSettled: useRefresh(place),
  });
}

export function useEditComment(place: CommentPlace) {
  return useMutation({
    mutationFn: ({ comment, text }: { comment: Comment; text: string }) =>
      ask(client.PUT(ONE, { params: at(comment), body: { text }, ...ifMatch(`"${comment.updated_at}"`) })),
    onSettled: useRefresh(place),
  });
}

export function useDeleteComment(place: CommentPlace) {
  return useMutation({
    mutationFn: (comment: Comment) => ask(client.DELETE(ONE, { params: at(comment) })),
    onSettled: useRefresh(place),
  });
}

const at = ({ project_id, id }: Comment) => ({ path: { project_id, comment_id: id } });

const ofRelease = ({ path, releaseId }: { path: FlagPath; releaseId: string }) => ({ ...path, release_id: releaseId });

const ofChange = ({ projectId, changeId }: { projectId: string; changeId: string }) => ({
  project_id: projectId,
  change_id: changeId,
});

function useRefresh(place: CommentPlace) {
  const cache = useQueryClient();
  return async () => {
    await outdate(cache, listOf(place));
    // Their lists show the number of comments.
    if (place.kind === "change") void outdate(cache, ...allOf(CHANGES));
  };
}
