/** The frame of the pages for administrators, which others do not see. Only the server decides who is one. */

import { Container } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Outlet } from "@tanstack/react-router";
import { ownAccountQuery } from "../identity/ownAccountCalls";
import { PageSkeleton } from "../../ui/PageSkeleton";
import { Forbidden, LoadFailed } from "../../ui/ProblemPage";

export function AdminPage() {
  const { data: own, error, refetch } = useQuery(ownAccountQuery);
  if (own) return own.administrator ? <Outlet /> : <Forbidden />;
  if (!error) return <PageSkeleton />;
  return (
    <Container size={640} py={64}>
      <LoadFailed error={error} onRetry={refetch} />
    </Container>
  );
}
