import {
  type CreateApiKeyBody,
  type CreatedApiKey,
  KEY_PLANS,
  KEY_SCOPES,
  type KeyScope,
} from '@stet/contract/vocabulary'
import { defined } from '@stet/template/defined'
import { defineCommand, parseDuration, type RawInput, textFlag } from '../../command.ts'
import type { Context } from '../../context.ts'
import { CliError } from '../../exit-code.ts'
import type { Flag, FlagName } from '../../settings/global-flags.ts'
import { describeKey } from './find-key.ts'

const ROLES = {
  app: ['read', 'run'],
  ci: ['read', 'write'],
  'ci-publish': ['read', 'write', 'publish'],
} satisfies Record<string, KeyScope[]>
const ROLE_NAMES = ['app', 'ci', 'ci-publish'] as const

interface KeyInput extends Omit<CreateApiKeyBody, 'expiresAt'> {
  lifetime?: number
}

const flags = [
  {
    long: '--role',
    value: '<role>',
    summary: 'app (read, run), ci (read, write) or ci-publish (read, write, publish)',
  },
  { long: '--scopes', value: '<list>', summary: 'instead of a role: read, run, write, publish, admin' },
  { long: '--author', value: '<person>', summary: 'the owner, as "Name <email>" (the name of the key)' },
  { long: '--only-project', value: '<id>', summary: 'restrict the key to this project' },
  { long: '--expires', value: '<duration>', summary: 'lifetime, such as 90d (unlimited)' },
  { long: '--plan', value: '<plan>', summary: 'pricing plan: hobby, team, enterprise or custom (team)' },
  { long: '--limit', value: '<n>', summary: 'requests per second for --plan custom' },
] as const satisfies readonly Flag[]

export const command = defineCommand({
  summary: 'Creates an API key and prints it on standard output. It is shown only once.',
  examples: [
    'stet keys create ci --role ci --expires 90d --author "Build <build@example.com>"',
    'stet keys create web --scopes run --only-project 1 > key.txt',
  ],
  args: [{ name: 'name', summary: 'name of the key', isRequired: true }],
  flags,
  parse: parseKey,
  async run({ lifetime, ...input }, ctx): Promise<CreatedApiKey> {
    const scopes = input.scopes ?? ROLES[await chooseRole(ctx)]
    const expiresAt = lifetime === undefined ? undefined : new Date(Date.now() + lifetime * 1000).toISOString()
    return (await ctx.client()).apiKeys.create({ ...input, scopes, ...(expiresAt && { expiresAt }) })
  },
  print(created, { io, style, say }) {
    io.out(`${created.key}\n`)
    say(`${style.ok} Created ${describeKey(created)}`)
  },
})

function parseKey(raw: RawInput<FlagName<typeof flags>>): KeyInput {
  const listed = textFlag(raw, 'scopes')
  const role = textFlag(raw, 'role')
  if (listed !== undefined && role !== undefined) throw new CliError('usage', 'Use --role or --scopes, not both')
  const named =
    role === undefined
      ? listed?.split(',').map((scope) => oneOf(KEY_SCOPES, scope.trim(), '--scopes'))
      : ROLES[oneOf(ROLE_NAMES, role, '--role')]
  const author = textFlag(raw, 'author')
  const plan = textFlag(raw, 'plan')
  const projectId = positive(textFlag(raw, 'onlyProject'), '--only-project')
  const limit = positive(textFlag(raw, 'limit'), '--limit')
  const expires = textFlag(raw, 'expires')
  if ((plan === 'custom') !== (limit !== undefined))
    throw new CliError('usage', '--plan custom needs --limit, and --limit needs --plan custom')
  return {
    name: raw.args[0] ?? '',
    ...defined({ scopes: named, projectId, limit }),
    ...(author !== undefined && { author: parseAuthor(author) }),
    ...(plan !== undefined && { plan: oneOf(KEY_PLANS, plan, '--plan') }),
    ...(expires !== undefined && { lifetime: parseDuration(expires, '--expires') }),
  }
}

async function chooseRole(ctx: Context): Promise<keyof typeof ROLES> {
  const choices = ROLE_NAMES.map((name) => ({ value: name, label: `${name}: ${ROLES[name].join(', ')}` }))
  const chosen = await ctx.choose('What is the key for?', choices, '--role app|ci|ci-publish, or --scopes <list>')
  return oneOf(ROLE_NAMES, chosen, '--role')
}

function parseAuthor(text: string): { name: string; email: string } {
  const [name = '', email = ''] = (/^([^<>]+)<([^<>]+)>$/.exec(text.trim()) ?? []).slice(1).map((part) => part.trim())
  if (name === '' || !/^[^\s@]+@[^\s@]+$/.test(email))
    throw new CliError('usage', `--author must be "Name <email>", not "${text}"`)
  return { name, email }
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
