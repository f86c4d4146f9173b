// @vitest-environment happy-dom
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  getRouteApi,
  RouterProvider,
} from "@tanstack/react-router";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { beforeEach, expect, it, vi } from "vitest";
import { useUrlState } from "./useUrlState";

vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);

const page = getRouteApi("/things/$thing" as never);
type Raw = Readonly<Record<string, unknown>>;
const read = ({ q, old }: Raw) => ({ q: typeof q === "string" ? q : null, old: old === true });

function Page() {
  const [state, change] = useUrlState(page, read);
  return (
    <>
      <output>{JSON.stringify(state)}</output>
      <button onClick={() => change({ q: "x", old: false })}>choose</button>
      <button onClick={() => change((now) => ({ ...now, old: true }), { replace: false })}>add</button>
    </>
  );
}

async function open(address: string) {
  const root = createRootRoute();
  const route = createRoute({ getParentRoute: () => root, path: "/things/$thing", component: Page });
  const router = createRouter({
    routeTree: root.addChildren([route]),
    history: createMemoryHistory({ initialEntries: [address] }),
  });
  await act(async () => {
    createRoot(document.body.appendChild(document.createElement("main"))).render(
      <RouterProvider router={router as never} />,
    );
    await router.load();
  });
  return router;
}

async function press(name: string): Promise<void> {
  const button = [...document.querySelectorAll("button")].find(({ textContent }) => textContent === name);
  await act(async () => {
    button?.click();
    await Promise.resolve();
  });
}

const shown = () => JSON.parse(document.querySelector("output")?.textContent ?? "null") as unknown;

beforeEach(() => {
  document.body.replaceChildren();
});

it("reads anything that people type", async () => {
  await open("/things/a?q=1&old=maybe");
  expect(shown()).toEqual({ q: null, old: false });
});

it("writes what differs from the defaults, in the place of the entry in the browser's history", async () => {
  const { history } = await open("/things/a?old=true");
  await press("choose");
  expect(shown()).toEqual({ q: "x", old: false });
  expect([history.location.href, history.length]).toEqual(["/things/a?q=x", 1]);
});

it("changes the newest state, and makes an entry if wanted", async () => {
  const { history } = await open("/things/a?q=x");
  await press("add");
  expect([history.location.href, history.length]).toEqual(["/things/a?q=x&old=true", 2]);
});
