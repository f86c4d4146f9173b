/** The SDK keys of a project: those of its environments, and the one for all of them. */

import { Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, useRef } from "react";
import { permissionsQuery } from "../../api/members";
import { type CreatedSdkKey, sdkKeysQuery } from "./sdkKeysCalls";
import { Empty } from "../../ui/Empty";
import { IconHistory, IconLock } from "../../ui/icons";
import classes from "../../ui/ListRows.module.css";
import { NewSdkKeyForm } from "./NewSdkKeyForm";
import { Page } from "../../ui/Page";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed, Locked } from "../../ui/ProblemPage";
import { SdkKey } from "./SdkKey";
import { SdkKeyRow } from "./SdkKeyRow";
import { SecretDialog } from "./SecretDialog";
import { Unfold } from "../../ui/Unfold";
import { reasonAgainst } from "../../ui/roles";
import { environmentsWith } from "./sdkKeyDrafts";
import { evaluateCommand } from "../../ui/snippets";
import { useDialog } from "../../ui/useDialog";
import { useEnvironments, useProject } from "../../ui/useHere";
import { problemsTexts } from "../../api/problemsTexts";
import { sdkKeys as texts } from "./sdkKeysTexts";
import { NewButton } from "../../ui/NewButton";

const ProjectChanges = lazy(() => import("../audit/ProjectChanges"));

export function SdkKeysPage() {
  const project = useProject();
  const environments = useEnvironments();
  const { data: own } = useQuery(permissionsQuery(project.id));
  const create = useRef<HTMLButtonElement>(null);
  const creation = useDialog();
  const creatable = environmentsWith(own, "keys:rotate", environments);
  const isShown = environmentsWith(own, "keys:read", environments).length > 0;
  const { data: keys, error, refetch } = useQuery({ ...sdkKeysQuery(project.id), enabled: isShown });
  const button = (
    <NewButton needs="keys:rotate" within={creatable[0]} ref={create} onClick={creation.open}>
      {texts.new}
    </NewButton>
  );
  return (
    <Page title={texts.heading} intro={texts.intro} actions={button}>
      {!isShown && <Locked title={problemsTexts.forbidden}>{reasonAgainst(own, "keys:read")}</Locked>}
      {isShown && error && !keys && <LoadFailed error={error} onRetry={refetch} />}
      {isShown && !keys && !error && <RowsSkeleton rows={3} height={72} />}
      {keys?.length === 0 && <Empty icon={<IconLock size={22} />} title={texts.emptyHeading} text={texts.emptyText} />}
      {keys && keys.length > 0 && (
        <ul className={classes.list} aria-label={texts.heading}>
          {keys.map((each) => (
            <SdkKeyRow
              key={each.id}
              projectId={project.id}
              environment={environments.find(({ key }) => key === each.environment)}
              sdkKey={each}
              replaced={keys.find(({ id }) => id === each.replaces)}
              onRevoked={() => create.current?.focus()}
            />
          ))}
        </ul>
      )}
      <section aria-label={texts.ownHeading}>
        <Stack gap="sm" mt="lg">
          <Title order={2}>{texts.ownHeading}</Title>
          <Text c="dimmed">{texts.ownText}</Text>
          <SdkKey project={project} />
        </Stack>
      </section>
      <Unfold label={texts.changes} icon={<IconHistory size={15} />}>
        <ProjectChanges projectId={project.id} resource="sdk_key" />
      </Unfold>
      <SecretDialog<CreatedSdkKey>
        {...creation.props}
        title={texts.new}
        form={(onCreated, onClose) => (
          <NewSdkKeyForm projectId={project.id} environments={creatable} onCreated={onCreated} onClose={onClose} />
        )}
        secretOf={({ name, key, environment }) => ({
          heading: texts.secretHeading,
          text: texts.secretText(name),
          label: texts.secretLabel,
          copy: texts.copySecret,
          secret: key,
          command: evaluateCommand({ project: { sdk_key: key }, environment: { key: environment } }),
        })}
      />
    </Page>
  );
}
