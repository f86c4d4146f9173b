/** Messages at the edge of the page, for results that have no place on the page itself. */

import { notifications } from "@mantine/notifications";
import { lineOf } from "./problem";

export function notifyDone(message: string): void {
  notifications.show({ message, color: "live", role: "status" });
}

export function notifyRefused(title: string, error: unknown): void {
  notifications.show({ title, message: lineOf(error), color: "alarm", autoClose: 12_000 });
}

export function notifyWarning(title: string, message: string): void {
  notifications.show({ title, message, color: "yellow", autoClose: 12_000 });
}
