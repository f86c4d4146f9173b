/** The number of comments on a change, and a dialog with them. */

import { Button } from "@mantine/core";
import { lazy } from "react";
import type { Change } from "../../api/changes";
import { useDialog } from "../../ui/useDialog";
import { comments as texts } from "../comments/commentsTexts";
import { Dialog } from "../../ui/Dialog";

const Comments = lazy(() => import("../comments/Comments"));

interface Props {
  readonly projectId: string;
  readonly change: Change;
  /** The change in words. */
  readonly words: string;
}

export function ChangeComments({ projectId, change, words }: Props) {
  const reading = useDialog();
  return (
    <>
      <Button
        variant="subtle"
        size="compact-xs"
        aria-label={`${texts.ofChange(change.comments ?? 0)}: ${words}`}
        onClick={reading.open}
      >
        {texts.ofChange(change.comments ?? 0)}
      </Button>
      <Dialog title={texts.onChange} size="lg" {...reading.props}>
        <p className="break">{words}</p>
        <Comments place={{ kind: "change", projectId, changeId: change.id }} />
      </Dialog>
    </>
  );
}
