/** A dialog whose frame and content load when it is first opened. */

import type { ModalProps } from "@mantine/core";
import { lateDialog } from "./lateDialog";

export const Dialog = lateDialog<ModalProps>(() => import("./DialogFrame").then((module) => module.DialogFrame));
