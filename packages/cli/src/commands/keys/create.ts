import {
  type CreateApiKeyBody,
  type CreatedApiKey,
  KEY_PLANS,
  KEY_SCOPES,
  type KeyScope,
} from '@stet/contract/vocabulary'
import { defined } from '@stet/template/defined'
import { defineCommand, type Flags, type Input, oneOf, parseDuration, positiveInteger } from '../../command.ts'
import type { Context } from '../../context.ts'
import { CliError } from '../../exit-code.ts'
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

const flags = {
  '--role <role>': 'app (read, run), ci (read, write) or ci-publish (read, write, publish)',
  '--scopes <list>': 'instead of a role: read, run, write, publish, admin',
  '--author <person>': 'the owner, as "Name <email>" (the name of the key)',
  '--only-project <id>': 'restrict the key to this project',
  '--expires <duration>': 'lifetime, such as 90d (unlimited)',
  '--plan <plan>': 'pricing plan: hobby, team, enterprise or custom (team)',
  '--limit <n>': 'requests per second for --plan custom',
} as const satisfies Flags

export const command = defineCommand({
  summary: 'Creates an API key and prints it on standard output. It is shown only once.',
  examples: [
    'stet keys create ci --role ci --expires 90d --author "Build <build@example.com>"',
    'stet keys create web --scopes run --only-project 1 > key.txt',
  ],
  args: { '<name>': 'name of the key' },
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

function parseKey(raw: Input<typeof flags>): KeyInput {
  const { scopes: listed, role } = raw.flags
  if (listed !== undefined && role !== undefined) throw new CliError('usage', 'Use --role or --scopes, not both')
  const named =
    role === undefined
      ? listed?.split(',').map((scope) => oneOf(KEY_SCOPES, scope.trim(), '--scopes'))
      : ROLES[oneOf(ROLE_NAMES, role, '--role')]
  const { author } = raw.flags
  const plan = oneOf(KEY_PLANS, raw.flags.plan, '--plan')
  const projectId = positiveInteger(raw.flags.onlyProject, '--only-project')
  const limit = positiveInteger(raw.flags.limit, '--limit')
  const lifetime = parseDuration(raw.flags.expires, '--expires')
  if ((plan === 'custom') !== (limit !== undefined))
    throw new CliError('usage', '--plan custom needs --limit, and --limit needs --plan custom')
  return {
    name: raw.args[0] ?? '',
    ...defined({ scopes: named, projectId, limit, plan, lifetime }),
    ...(author !== undefined && { author: parseAuthor(author) }),
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
