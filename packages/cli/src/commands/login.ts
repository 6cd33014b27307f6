import { defineCommand } from '../command.ts'
import type { Context } from '../context.ts'
import { CliError } from '../exit-code.ts'
import { createClient } from '../settings/client.ts'
import { readCredentials, writeCredentials } from '../settings/credentials.ts'
import { checkForm, normalizeAddress, type Resolved, type Settings } from '../settings/resolve.ts'

export const command = defineCommand({
  summary: 'Checks an API key with the server and saves it in the profile.',
  examples: ['stet login --api-key-stdin < .stet/admin.key', 'stet login --base-url https://stet.example.com'],
  flags: { '--force': "replace this profile's login for another server" },
  parse: (raw) => ({ isForced: raw.flags.force }),
  async run({ isForced }, ctx) {
    const resolved = await ctx.settings()
    const settings = { ...resolved, ...(await chooseServerAndKey(resolved, ctx)) }
    const client = await createClient(ctx, settings)
    const me = await client.me()
    const credentials = await readCredentials(settings.credentialsFile, ctx.warn)
    const profile = settings.profile.value
    const before = credentials[profile]
    if (before && before.baseUrl !== settings.baseUrl.value && !isForced) {
      const isAgreed = await ctx.confirm(`Replace the login for ${before.baseUrl}?`, '--force, or --profile <name>')
      if (!isAgreed) throw new CliError('usage', 'Nothing was changed', { hint: 'pass --profile <name>' })
    }
    credentials[profile] = {
      baseUrl: settings.baseUrl.value,
      apiKey: settings.apiKey.value,
      keyName: me.apiKey.name,
    }
    await writeCredentials(settings.credentialsFile, credentials)
    return {
      baseUrl: settings.baseUrl.value,
      profile,
      keyName: me.apiKey.name,
      prefix: me.apiKey.prefix,
      workspace: me.workspace.name,
      scopes: me.apiKey.scopes,
      file: settings.credentialsFile,
    }
  },
  print(data, { io, style, say, warn }) {
    say(
      `${style.ok} Logged in as key "${data.keyName}" (${data.prefix}…) · workspace ${data.workspace} · scopes ${data.scopes.join(', ')}`,
    )
    say(`  Saved to ${data.file} (profile ${data.profile})`)
    if (io.env['STET_API_KEY']) warn('STET_API_KEY is set and takes precedence over this login')
  },
})

// Asks for the key unless a flag or a variable provides it. Asks for the server first if only a default or a project
// file names it.
async function chooseServerAndKey(
  settings: Settings,
  ctx: Context,
): Promise<{ baseUrl: Resolved<string>; apiKey: Resolved<string> }> {
  const isGiven = settings.apiKey !== undefined && !settings.apiKey.origin.startsWith('profile ')
  if (isGiven && settings.apiKey) return { baseUrl: settings.baseUrl, apiKey: settings.apiKey }
  if (settings.isAddressForeign && !ctx.isInteractive) {
    throw new CliError(
      'usage',
      `The address ${settings.baseUrl.value} comes only from the ${settings.baseUrl.origin} of this folder`,
      {
        hint: `if you trust it, pass --base-url ${settings.baseUrl.value}`,
      },
    )
  }
  // The user must see an address that comes from a project file before typing a key for it.
  const isAddressOpen = (settings.baseUrl.origin === 'default' || settings.isAddressForeign) && ctx.isInteractive
  const address = isAddressOpen
    ? await ctx.ask({ message: 'Server', initialValue: settings.baseUrl.value, flag: '--base-url' })
    : settings.baseUrl.value
  const key = await ctx.ask({ message: 'API key', isSecret: true, flag: '--api-key-stdin' })
  return {
    baseUrl: { ...settings.baseUrl, value: normalizeAddress(address) },
    apiKey: { value: checkForm(key.trim()), origin: 'question' },
  }
}
