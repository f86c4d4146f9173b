/** Shows others' changes in a project at once, while its page is visible. */

import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

export function useFollowedChanges(projectId: string): void {
  const cache = useQueryClient();
  useEffect(() => {
    let left: AbortController | null = null;
    // Only a visible page follows: others would load what nobody sees.
    const update = (): void => {
      const isSeen = document.visibilityState === "visible";
      if (isSeen && left === null) {
        left = new AbortController();
        const { signal } = left;
        import("./live")
          .then(({ followChanges }) => followChanges(cache, projectId, signal))
          .catch(() => {
            left = null; // no code, such as after an upgrade: try again when the page is next visible
          });
      } else if (!isSeen) {
        left?.abort();
        left = null;
      }
    };
    update();
    document.addEventListener("visibilitychange", update);
    return () => {
      document.removeEventListener("visibilitychange", update);
      left?.abort();
    };
  }, [cache, projectId]);
}
