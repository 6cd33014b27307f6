import { type CreateApiKeyBody, type CreatedApiKey, KEY_PLANS, KEY_SCOPES } from '@stet/contract/vocabulary'
import { defineCommand, parseDuration, type RawInput, textFlag } from '../../command.ts'
import { CliError } from '../../exit-code.ts'
import { describeKey } from './find-key.ts'

interface KeyInput extends Omit<CreateApiKeyBody, 'expiresAt'> {
  lifetime?: number
}

export const command = defineCommand({
  summary: 'Creates an API key and prints it on standard output. It is shown only once.',
  examples: [
    'stet keys create ci --scopes read,write,publish --expires 90d',
    'stet keys create web --scopes run --only-project 1 > key.txt',
  ],
  args: [{ name: 'name', summary: 'name of the key', isRequired: true }],
  flags: [
    { long: '--scopes', value: '<list>', summary: 'read, run, write, publish, admin (all but admin)' },
    { long: '--only-project', value: '<id>', summary: 'restrict the key to this project' },
    { long: '--expires', value: '<duration>', summary: 'lifetime, such as 90d (unlimited)' },
    { long: '--plan', value: '<plan>', summary: 'pricing plan: hobby, team, enterprise or custom (team)' },
    { long: '--limit', value: '<n>', summary: 'requests per second for --plan custom' },
  ],
  parse: parseKey,
  async run({ lifetime, ...input }, ctx): Promise<CreatedApiKey> {
    const expiresAt = lifetime === undefined ? undefined : new Date(Date.now() + lifetime * 1000).toISOString()
    return (await ctx.client()).apiKeys.create({ ...input, ...(expiresAt && { expiresAt }) })
  },
  print(created, { io, style, say }) {
    io.out(`${created.key}\n`)
    say(`${style.ok} Created ${describeKey(created)}`)
  },
})

function parseKey(raw: RawInput): KeyInput {
  const named = textFlag(raw, 'scopes')
    ?.split(',')
    .map((scope) => oneOf(KEY_SCOPES, scope.trim(), '--scopes'))
  const plan = textFlag(raw, 'plan')
  const projectId = positive(textFlag(raw, 'onlyProject'), '--only-project')
  const limit = positive(textFlag(raw, 'limit'), '--limit')
  const expires = textFlag(raw, 'expires')
  if ((plan === 'custom') !== (limit !== undefined))
    throw new CliError('usage', '--plan custom needs --limit, and --limit needs --plan custom')
  return {
    name: raw.args[0] ?? '',
    ...(named && { scopes: named }),
    ...(projectId !== undefined && { projectId }),
    ...(plan !== undefined && { plan: oneOf(KEY_PLANS, plan, '--plan') }),
    ...(limit !== undefined && { limit }),
    ...(expires !== undefined && { lifetime: parseDuration(expires, '--expires') }),
  }
}

function oneOf<T extends string>(known: readonly T[], text: string, flag: string): T {
  const found = known.find((one) => one === text)
  if (found) return found
  throw new CliError('usage', `${flag} must be one of ${known.join(', ')}, not "${text}"`)
}

function positive(text: string | undefined, flag: string): number | undefined {
  if (text === undefined || /^[1-9]\d{0,8}$/.test(text)) return text === undefined ? undefined : Number(text)
  throw new CliError('usage', `${flag} must be a positive integer, not "${text}"`)
}
