import { ProviderKind } from '@stet/contract'

/** Published clients accept only the listed types, so an unknown one is omitted. */
export function providerKind(kind: string | undefined): ProviderKind | undefined {
  const parsed = ProviderKind.safeParse(kind)
  return parsed.success ? parsed.data : undefined
}
