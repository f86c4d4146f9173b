/** The frame of every page after sign-in: the location, the navigation and the account. */

import { Link, Outlet, useLocation, useParams, useRouter } from "@tanstack/react-router";
import { type RefObject, lazy, Suspense, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { useOutage } from "../../api/outage";
import { keepTyped, onKeysRequest, onPaletteRequest, takeTyped } from "../../ui/paletteRequests";
import { interruptedSession, onSessionChange } from "../../api/session";
import { onWantedOn, type TurningOn, wantedOn, wantOn } from "../../features/flags/turnOnRequest";
import { adminPagesTexts } from "../../ui/adminPagesTexts";
import { shellTexts } from "../../ui/shellTexts";
import { AccountMenu } from "../../features/identity/AccountMenu";
import { EnvironmentMenu } from "../EnvironmentMenu";
import { OutageBanner } from "./OutageBanner";
import { Logo } from "../../ui/Logo";
import { ProjectMenu } from "../ProjectMenu";
import { SearchButton } from "./SearchButton";
import { IconMenu } from "../../ui/icons";
import { lateDialog } from "../../ui/lateDialog";
import { NAVIGATION, Navigation } from "./Navigation";
import classes from "./Shell.module.css";

const SignInDialog = lazy(() => import("../../features/identity/SignInDialog"));

const TurnOnDialog = lateDialog(() =>
  import("../../features/flags/TurnOnDialog").then((module) => module.TurnOnDialog),
);

const ShortcutsDialog = lateDialog(() => import("./ShortcutsDialog").then((module) => module.ShortcutsDialog));

const Palette = lazy(() => {
  keepTyped();
  return import("./Palette").catch((error: unknown) => {
    takeTyped();
    throw error;
  });
});

export function Shell() {
  const { projectId, environmentId } = useParams({ strict: false });
  const administers = useLocation({ select: ({ pathname }) => pathname.startsWith("/admin") });
  const paletteWanted = usePaletteWanted();
  const content = useRef<HTMLElement>(null);
  useFocusAfterNavigation(content);
  return (
    <>
      <a href="#content" className={classes.skip}>
        {shellTexts.skip}
      </a>
      <header className={classes.header}>
        <div className={classes.bar}>
          <button type="button" className={classes.menu} popoverTarget={NAVIGATION} aria-label={shellTexts.menu}>
            <IconMenu size={20} />
          </button>
          <Link to="/" className={classes.home} aria-label={shellTexts.allProjects}>
            <Logo />
          </Link>
          {administers && <span className={classes.place}>{adminPagesTexts.heading}</span>}
          {projectId && <ProjectMenu projectId={projectId} />}
          {projectId && <EnvironmentMenu projectId={projectId} environmentId={environmentId ?? null} />}
          <div className={classes.tools}>
            <SearchButton />
            <AccountMenu />
          </div>
        </div>
        <OutageBanner />
      </header>
      <div className={classes.frame}>
        <Navigation projectId={projectId} environmentId={environmentId} administers={administers} />
        <main ref={content} id="content" tabIndex={-1} className={classes.content}>
          <Outlet />
        </main>
      </div>
      <SignInAgain />
      <TurnOn />
      <Keys />
      {paletteWanted && (
        <Suspense>
          <Palette projectId={projectId ?? null} environmentId={environmentId ?? null} />
        </Suspense>
      )}
    </>
  );
}

/** The dialog for signing in again, once the server can be reached, which also has its code. */
function SignInAgain() {
  const session = useSyncExternalStore(onSessionChange, interruptedSession);
  const outage = useOutage();
  if (session === null || outage !== null) return null;
  return (
    <Suspense>
      <SignInDialog session={session} />
    </Suspense>
  );
}

/** The question before a flag is turned on in a critical environment. */
function TurnOn() {
  const wanted = useSyncExternalStore(onWantedOn, wantedOn);
  const [shown, setShown] = useState<TurningOn | null>(null);
  if (wanted !== null && wanted !== shown) setShown(wanted); // it stays while the dialog closes
  return shown && <TurnOnDialog wanted={shown} opened={wanted !== null} onClose={() => wantOn(null)} />;
}

function Keys() {
  const [opened, setOpened] = useState(false);
  useEffect(() => onKeysRequest(() => setOpened(true)), []);
  return <ShortcutsDialog opened={opened} onClose={() => setOpened(false)} />;
}

/** Whether the palette was ever requested; it is only loaded then. */
function usePaletteWanted(): boolean {
  const [wanted, setWanted] = useState(false);
  useEffect(() => onPaletteRequest(() => setWanted(true)), []);
  return wanted;
}

/** If navigation removes the focused element, the page gets the focus, so that tabbing continues there. */
function useFocusAfterNavigation(content: RefObject<HTMLElement | null>): void {
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe("onRendered", ({ fromLocation, hrefChanged }) => {
        if (fromLocation && hrefChanged && document.activeElement === document.body) content.current?.focus();
      }),
    [router, content],
  );
}
