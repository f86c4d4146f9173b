/**
 * Whether the signed-in account may use a control, and how a control that it may not use says so.
 *
 * Such a control stays in its place and can be focused, so that everyone can read the reason, but does nothing.
 */

import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { createContext, useContext } from "react";
import type { Environment } from "../api/client";
import { environmentsQuery } from "../api/environments";
import { type Permission, permissionsQuery } from "../api/members";
import { reasonAgainst } from "./roles";

export interface Guarded {
  /** The permission that the control needs; without one, everyone may use it. */
  readonly needs?: Permission | undefined;
  /** The place of the permission; by default the environment of the page, or without one the whole project. */
  readonly within?: Environment | undefined;
  /** Why the control cannot be used, whatever the permissions are; null if it can. */
  readonly refusal?: string | null | undefined;
}

/** Why nothing can be changed in a part of a page, whatever the permissions are; null if it can. */
export const PartRefusal = createContext<string | null>(null);

export function useGuard({ needs, within, refusal = null }: Guarded) {
  const partRefusal = useContext(PartRefusal);
  const { projectId, environmentId } = useParams({ strict: false });
  const enabled = needs !== undefined && projectId !== undefined;
  const { data: own } = useQuery({ ...permissionsQuery(projectId ?? ""), enabled });
  const { data: environments } = useQuery({ ...environmentsQuery(projectId ?? ""), enabled });
  const place = within ?? environments?.find((each) => each.id === environmentId);
  const reason = refusal ?? (enabled ? (partRefusal ?? reasonAgainst(own, needs, place)) : null);
  const named = needs && { "data-needs": needs, "data-within": place?.key };
  return { reason, attributes: { ...named, ...(reason !== null && disabled(reason)) } };
}

function disabled(reason: string) {
  return { "aria-disabled": true, "aria-description": reason, "data-disabled": true } as const;
}
