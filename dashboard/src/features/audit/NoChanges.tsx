import { changes as texts } from "../../ui/changes/changesTexts";
import { Empty } from "../../ui/Empty";
import { IconPencil } from "../../ui/icons";

export function NoChanges({ text = texts.projectEmptyText }: { text?: string }) {
  return <Empty icon={<IconPencil size={22} />} title={texts.emptyHeading} text={text} />;
}
