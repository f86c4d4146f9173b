/** The button below a list with pages, and what replaces an empty list. */

import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import classes from "./Pages.module.css";
import { RowsSkeleton } from "./PageSkeleton";
import { LoadFailed } from "./ProblemPage";

const texts = { older: "Show older", end: "There are no more entries." };

export interface PagesProps {
  readonly query: {
    readonly isPending: boolean;
    readonly isPlaceholderData: boolean;
    readonly error: Error | null;
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => unknown;
    readonly refetch: () => unknown;
  };
  readonly count: number;
  readonly empty: ReactNode;
  /** The label of the button that loads the next page; by default, it says that the entries are older. */
  readonly more?: string;
  readonly children: ReactNode;
}

export function Pages({ query, count, empty, more = texts.older, children }: PagesProps) {
  if (query.isPending || (count === 0 && query.isPlaceholderData)) return <RowsSkeleton rows={8} height={36} />;
  if (query.error && count === 0) return <LoadFailed error={query.error} onRetry={query.refetch} />;
  if (count === 0 && !query.hasNextPage) return empty;
  return (
    <>
      {children}
      <div className={classes.more}>
        {query.hasNextPage ? (
          <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            {more}
          </Button>
        ) : (
          texts.end
        )}
      </div>
    </>
  );
}
