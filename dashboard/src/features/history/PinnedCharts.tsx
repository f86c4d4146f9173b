/** The pinned charts of a project, whose code is loaded when they are first shown. */

import { lazy, Suspense } from "react";
import { RowsSkeleton } from "../../ui/PageSkeleton";

const PinnedChartList = lazy(() => import("./PinnedChartList"));

export function PinnedCharts({ projectId }: { projectId: string }) {
  return (
    <Suspense fallback={<RowsSkeleton rows={1} height={220} />}>
      <PinnedChartList projectId={projectId} />
    </Suspense>
  );
}
