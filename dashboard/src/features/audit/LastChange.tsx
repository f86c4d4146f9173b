/** The newest change of a flag, its rules or a segment that they name, in one sentence. */

import { useQuery } from "@tanstack/react-query";
import { lastChangeQuery } from "../../api/changes";
import type { Flag } from "../../api/client";
import { actorInWords, subjectOf, verbOf } from "./changeSentences";
import { inFull } from "../../ui/time";
import { common } from "../../ui/commonTexts";

export default function LastChange({ flag }: { flag: Flag }) {
  const path = { project_id: flag.project_id, env_id: flag.environment_id };
  const { data: newest, isPending } = useQuery(lastChangeQuery(path, flag.id));
  if (isPending) return common.loading;
  if (!newest) return inFull(flag.updated_at);
  const subject = subjectOf(newest, new Map([[flag.id, flag.name]]));
  return `${actorInWords(newest.actor)} ${verbOf(newest)} ${subject}, ${inFull(newest.at)}`;
}
