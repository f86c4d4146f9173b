/** Shows at once what others change in a project, while its page is seen. */

import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

export function useFollowedChanges(projectId: string): void {
  const cache = useQueryClient();
  useEffect(() => {
    let left: AbortController | null = null;
    // Only a page that is seen keeps a stream: with HTTP/1.1 a browser has six connections to a server, for all pages.
    const update = (): void => {
      const isSeen = document.visibilityState === "visible";
      if (isSeen && left === null) {
        left = new AbortController();
        const { signal } = left;
        import("../../api/live")
          .then(({ followChanges }) => followChanges(cache, projectId, signal))
          .catch(() => {
            left = null; // the code is not there, such as after an upgrade: the next time the page is seen
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
