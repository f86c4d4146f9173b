/** Puts environments in another order, by dragging or step by step. A dragged environment is shown in its new place. */

import { type DragEvent, type RefObject, useEffect, useRef, useState } from "react";
import type { Environment } from "../../api/client";
import { useOrderEnvironments } from "./environmentOrderCalls";
import { settings as texts } from "./projectsTexts";
import { moved } from "./moved";
import { notifyRefused } from "../../api/notify";

export type Step = -1 | 1;

export function useEnvironmentOrder(
  projectId: string,
  environments: readonly Environment[],
  list: RefObject<HTMLElement | null>,
) {
  const { mutate } = useOrderEnvironments(projectId);
  const [dragged, setDragged] = useState<{ id: string; order: readonly Environment[] } | null>(null);
  const [said, setSaid] = useState("");
  const stepped = useRef<{ id: string; step: Step } | null>(null);
  const shown = dragged?.order ?? environments;

  const save = (ordered: readonly Environment[], id: string) => {
    const place = ordered.findIndex((each) => each.id === id);
    setSaid(texts.environmentPlace(ordered[place]?.name ?? "", place + 1, ordered.length));
    mutate(
      { shown: environments, ordered },
      { onError: (error) => notifyRefused(texts.environmentOrderFailed, error) },
    );
  };

  // A button that moves in the document loses the focus, and the one at the end of the list is gone.
  useEffect(() => {
    if (!stepped.current) return;
    const { id, step } = stepped.current;
    const buttons = (each: Step) => list.current?.querySelector<HTMLElement>(`[data-move="${id} ${each}"]`);
    (buttons(step) ?? buttons(step === 1 ? -1 : 1))?.focus();
    stepped.current = null;
  }, [environments, list]);

  return {
    shown,
    said,
    dragged: dragged?.id ?? null,
    step: (id: string, step: Step) => {
      const place = environments.findIndex((each) => each.id === id);
      stepped.current = { id, step };
      save(moved(environments, place, place + step), id);
    },
    handle: (id: string) => ({
      draggable: true,
      onDragStart: ({ currentTarget, dataTransfer }: DragEvent<HTMLElement>) => {
        const row = currentTarget.closest("li");
        if (row) dataTransfer.setDragImage(row, 12, row.offsetHeight / 2);
        dataTransfer.effectAllowed = "move";
        dataTransfer.setData("text/plain", id); // Firefox drags nothing without data
        setDragged({ id, order: environments });
      },
      onDragEnd: () => setDragged(null),
    }),
    target: (over: string) => ({
      onDragEnter: () =>
        setDragged(
          (now) => now && { ...now, order: moved(now.order, placeOf(now.order, now.id), placeOf(now.order, over)) },
        ),
      onDragOver: (event: DragEvent) => dragged && event.preventDefault(),
      onDrop: (event: DragEvent) => {
        event.preventDefault();
        if (dragged?.order.some((each, place) => each.id !== environments[place]?.id)) {
          save(dragged.order, dragged.id);
        }
      },
    }),
  };
}

function placeOf(environments: readonly Environment[], id: string): number {
  return environments.findIndex((each) => each.id === id);
}
