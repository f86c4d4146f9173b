/** Whether a part of a page should load: it is near the screen, or everything on the screen has had time to load. */

import { type RefObject, useEffect, useRef, useState } from "react";

const MARGIN = "200px";
/** Later, so that headings and texts below the screen can be found without scrolling to them. */
const LATER_MILLISECONDS = 2_000;

export function useNear<T extends Element>(): readonly [RefObject<T | null>, boolean] {
  const place = useRef<T>(null);
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) setNear(true);
      },
      { rootMargin: MARGIN },
    );
    if (place.current) observer.observe(place.current);
    const timer = setTimeout(() => setNear(true), LATER_MILLISECONDS);
    return () => {
      observer.disconnect();
      clearTimeout(timer);
    };
  }, []);
  return [place, isNear];
}
