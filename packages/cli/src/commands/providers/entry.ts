import type { ProviderKeyInfo, Stet } from '@stet/sdk'
import { defined } from '@stet/template/defined'
import type { Flags, Input } from '../../command.ts'
import type { Context } from '../../context.ts'
import { CliError } from '../../exit-code.ts'
import { isJsonObject } from '../../settings/json-file.ts'

export const entryFlags = {
  '--token-stdin': "read the provider's token from standard input",
  '--url <base>': 'URL of a compatible service',
  '--default-model <model>': 'default model of prompts',
  '--configuration <json>': 'additional settings as a JSON object',
} as const satisfies Flags

export interface EntryInput {
  readsToken: boolean
  url?: string
  defaultModel?: string
  configuration?: Record<string, unknown>
}

export function parseEntry(raw: Input<typeof entryFlags>): EntryInput {
  const url = raw.flags.url
  const defaultModel = raw.flags.defaultModel
  const configuration = raw.flags.configuration
  return {
    readsToken: raw.flags.tokenStdin,
    ...defined({ url, defaultModel }),
    ...(configuration !== undefined && { configuration: parseConfiguration(configuration) }),
  }
}

/** Reads the token from standard input. A flag would expose the token in the process list and the shell history. */
export async function readToken(ctx: Context): Promise<string> {
  if (ctx.flags.apiKeyStdin) throw new CliError('usage', '--token-stdin and --api-key-stdin both read standard input')
  const token = new TextDecoder().decode(await ctx.io.readStdin()).trim()
  if (token === '') throw new CliError('usage', '--token-stdin: standard input is empty')
  return token
}

/**
 * Finds a stored provider key by name, ignoring case. Throws if only the server's settings contain the provider key.
 */
export async function findEntry(client: Stet, name: string): Promise<ProviderKeyInfo> {
  const isNamed = (one: ProviderKeyInfo): boolean => one.name.toLowerCase() === name.toLowerCase()
  const entries = (await client.providerKeys.list()).filter(isNamed)
  const stored = entries.find(({ id }) => id !== 0)
  if (stored) return stored
  if (entries.length === 0) throw unknownProviderKey(name)
  throw new CliError('conflict', `The provider key "${name}" comes from the server's settings`, {
    hint: `change it there, or override it with stet providers add ${name}`,
  })
}

export function describeEntry({ name, provider, token }: ProviderKeyInfo): string {
  return `Provider key "${name}" (${provider}) · token ${token}`
}

function parseConfiguration(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (isJsonObject(value)) return value
  } catch {
    // The error below also covers invalid JSON.
  }
  throw new CliError('usage', '--configuration must be a JSON object')
}

export function unknownProviderKey(name: string): CliError {
  return new CliError('not_found', `No provider key "${name}"`, { hint: 'run stet providers list' })
}
