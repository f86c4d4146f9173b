/** Comments on flags, releases and changes. While a list is shown, new ones appear within seconds. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { client, type FlagPath } from "./client";
import { partsQuery } from "./parts";
import { ask } from "./problem";
import { ifMatch } from "./states";
import type { components } from "./schema";

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
/** A page that is not visible does not ask. */
const LOOK_MILLISECONDS = 10_000;

export const projectOf = (place: CommentPlace): string =>
  place.kind === "change" ? place.projectId : place.path.project_id;

function keyOf(place: CommentPlace): readonly string[] {
  switch (place.kind) {
    case "flag":
      return ["comments", place.path.flag_id];
    case "release":
      return ["comments", place.releaseId];
    case "change":
      return ["comments", place.projectId, place.changeId];
  }
}

export function commentsQuery(place: CommentPlace) {
  return {
    ...partsQuery<Comment>(keyOf(place), (query, signal) => {
      switch (place.kind) {
        case "flag":
          return client.GET(OF_FLAG, { params: { path: place.path, query }, signal });
        case "release":
          return client.GET(OF_RELEASE, { params: { path: ofRelease(place), query }, signal });
        case "change":
          return client.GET(OF_CHANGE, { params: { path: ofChange(place), query }, signal });
      }
    }),
    refetchInterval: LOOK_MILLISECONDS,
  };
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
    await cache.invalidateQueries({ queryKey: keyOf(place) });
    // Their lists have the number of comments.
    if (place.kind === "change") void cache.invalidateQueries({ queryKey: ["changes"] });
  };
}
