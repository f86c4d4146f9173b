/** The comments on something, oldest first, and a field for the next one. */

import { Button, Stack, Text, Title } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { type CommentPlace, commentsQuery, projectOf, useWriteComment } from "./commentsCalls";
import { comments as texts } from "./commentsTexts";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed } from "../../ui/ProblemPage";
import { CommentForm } from "./CommentForm";
import { CommentItem } from "./CommentItem";
import classes from "./Comments.module.css";

interface Props {
  readonly place: CommentPlace;
  /** The level of the heading. A dialog has its own title instead. */
  readonly order?: 2 | 3;
}

export default function Comments({ place, order }: Props) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    commentsQuery(place),
  );
  const { mutateAsync: write } = useWriteComment(place);
  const list = useRef<HTMLDivElement>(null);
  const found = data?.pages.flatMap((part) => part.items).toReversed();
  return (
    <Stack gap="md" className={classes.comments}>
      <div ref={list} tabIndex={-1}>
        {order && <Title order={order}>{texts.heading}</Title>}
        <Text c="dimmed" size="sm">
          {texts.intro}
        </Text>
      </div>
      {error && !found && <LoadFailed error={error} onRetry={refetch} />}
      {!found && !error && <RowsSkeleton rows={3} height={56} />}
      {found?.length === 0 && <Text>{texts.none}</Text>}
      {hasNextPage && (
        <Button
          variant="default"
          size="xs"
          loading={isFetchingNextPage}
          onClick={() => void fetchNextPage()}
          style={{ alignSelf: "flex-start" }}
        >
          {texts.earlier}
        </Button>
      )}
      {found && found.length > 0 && (
        <ol className={classes.list} aria-label={texts.heading}>
          {found.map((each) => (
            <CommentItem key={each.id} place={place} comment={each} onDeleted={() => list.current?.focus()} />
          ))}
        </ol>
      )}
      {found && <CommentForm projectId={projectOf(place)} action={texts.send} onSubmit={write} />}
    </Stack>
  );
}
