import { changes as texts } from "../../texts/changes";
import { Empty } from "../shared/Empty";
import { IconPencil } from "../shared/icons";

export function NoChanges({ text = texts.projectEmptyText }: { text?: string }) {
  return <Empty icon={<IconPencil size={22} />} title={texts.emptyHeading} text={text} />;
}
