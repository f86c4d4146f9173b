/** The flags that this flag needs, and those that need it. */

import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import type { Rule } from "../../../api/client";
import { flagsQuery } from "../flagsCalls";
import { draftOfFlag, type FlagPlace } from "../../../api/flagPlace";
import { useDialog } from "../../../ui/useDialog";
import { useNear } from "../../../ui/useNear";
import { prerequisitesTexts } from "./prerequisitesTexts";
import { Dialog } from "../../../ui/Dialog";
import { EditButton } from "../../../ui/EditButton";
import { RowsSkeleton } from "../../../ui/PageSkeleton";
import { LoadFailed } from "../../../ui/ProblemPage";
import { SectionHeading } from "../../../ui/SectionHeading";

// Few flags have prerequisites.
const NeedsGraph = lazy(() => import("./NeedsGraph").then((module) => ({ default: module.NeedsGraph })));
const PrerequisitesForm = lazy(() => import("./PrerequisitesForm"));

type Props = Pick<FlagPlace, "path" | "flag"> & { readonly rules: readonly Rule[] };

export function Prerequisites({ path, flag, rules }: Props) {
  const editing = useDialog(draftOfFlag(flag, "prerequisites"));
  // All flags, because each of them may need this one. They are not polled, because they are many.
  const [place, isNear] = useNear<HTMLElement>();
  const { data: flags, error, refetch } = useQuery({ ...flagsQuery(path), refetchInterval: false, enabled: isNear });
  const hasAny = flag.prerequisites.length > 0;
  const title = hasAny ? prerequisitesTexts.edit : prerequisitesTexts.add;
  const isNeeded = flags?.some((each) => each.prerequisites.some(({ flag_key: key }) => key === flag.key)) ?? false;
  return (
    <section ref={place} aria-label={prerequisitesTexts.heading}>
      <SectionHeading
        title={prerequisitesTexts.heading}
        intro={introOf(hasAny, isNeeded)}
        action={<EditButton exists={hasAny} label={title} onClick={editing.open} />}
      />
      {!flags && error && <LoadFailed error={error} onRetry={refetch} />}
      {!flags && !error && hasAny && <RowsSkeleton rows={2} />}
      {flags && (hasAny || isNeeded) && (
        <Suspense fallback={<RowsSkeleton rows={2} />}>
          <NeedsGraph path={path} flags={flags} current={flag.key} />
        </Suspense>
      )}
      <Dialog title={title} size={600} yOffset="6vh" {...editing.props}>
        <PrerequisitesForm path={path} flag={flag} rules={rules} onClose={editing.props.onClose} />
      </Dialog>
    </section>
  );
}

function introOf(hasAny: boolean, isNeeded: boolean): string {
  if (hasAny) return prerequisitesTexts.intro;
  return isNeeded ? prerequisitesTexts.noneButNeeded : prerequisitesTexts.none;
}
