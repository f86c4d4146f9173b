/** The part of a page below the first screen, which loads after what is seen first. */

import { type ReactNode, Suspense } from "react";
import { useNear } from "./useNear";
import { RowsSkeleton } from "./PageSkeleton";

export function LoadedWhenNear({ children }: { readonly children: ReactNode }) {
  const [place, isNear] = useNear<HTMLDivElement>();
  const skeleton = <RowsSkeleton rows={4} />;
  return isNear ? <Suspense fallback={skeleton}>{children}</Suspense> : <div ref={place}>{skeleton}</div>;
}
