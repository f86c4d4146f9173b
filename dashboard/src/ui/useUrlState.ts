/** What a page keeps in its URL, so that it can be shared and reloaded: filters, tabs and choices. */

import { useCallback, useMemo } from "react";

interface PageRoute {
  readonly useSearch: () => object;
  readonly useParams: () => object;
  readonly useNavigate: () => (options: never) => Promise<void>;
}

type Raw = Readonly<Record<string, unknown>>;
type Change<State> = (next: State | ((now: State) => State), options?: { readonly replace: boolean }) => void;

/**
 * The state that `read` finds in the URL of a page, and a function that changes it. `read` accepts anything, because people
 * type and share URLs. A change makes no entry in the browser's history unless `replace` is false. It keeps the page's
 * parameters, also while the browser leaves the page.
 */
export function useUrlState<State extends object>(
  route: PageRoute,
  read: (raw: Raw) => State,
): readonly [State, Change<State>] {
  const raw = route.useSearch() as Raw;
  const params = route.useParams();
  const navigate = route.useNavigate();
  const state = useMemo(() => read(raw), [read, raw]);
  const change = useCallback<Change<State>>(
    (next, { replace } = { replace: true }) => {
      const search = (now: Raw) => written(typeof next === "function" ? next(read(now)) : next, read);
      void navigate({ params, search, replace } as never);
    },
    [navigate, params, read],
  );
  return [state, change];
}

/** Without the values that stand for a default. */
function written<State extends object>(state: State, read: (raw: Raw) => State): object {
  return Object.fromEntries(
    Object.entries(read({ ...state } as Raw)).filter(([, value]) => value !== null && value !== false),
  );
}
