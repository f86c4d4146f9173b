/** A placeholder for a page that is still loading. */

import { Container, Group, Skeleton, Stack, VisuallyHidden } from "@mantine/core";
import { common } from "./commonTexts";

export function PageSkeleton() {
  return (
    <Container size={1160} py="lg" aria-busy>
      <VisuallyHidden role="status">{common.loading}</VisuallyHidden>
      <Group justify="space-between" mb="lg">
        <Skeleton h={28} w={160} />
        <Skeleton h={34} w={110} />
      </Group>
      <RowsSkeleton />
    </Container>
  );
}

export function RowsSkeleton({ rows = 6, height = 44 }: { rows?: number; height?: number }) {
  return (
    <Stack gap="xs" aria-hidden>
      {Array.from({ length: rows }, (_, index) => (
        <Skeleton key={index} h={height} opacity={0.6 * (1 - index / (rows + 2))} />
      ))}
    </Stack>
  );
}
