import { ProviderKind } from '@stet/contract'

/** Published clients accept no kind outside the list: an unknown one is not told. */
export function providerKind(kind: string | undefined): ProviderKind | undefined {
  const parsed = ProviderKind.safeParse(kind)
  return parsed.success ? parsed.data : undefined
}
