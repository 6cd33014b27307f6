import { defineCommand } from '../../command.ts'
import { maskApiKey, readCredentials } from '../../settings/credentials.ts'
import { formatTable } from '../../terminal/output.ts'

interface Setting {
  name: string
  value: string | number | null
  origin: string
}

export const command = defineCommand({
  summary: 'Shows the effective settings and the stored profiles. Makes no request.',
  examples: ['stet config list', 'stet config list --show-origin', 'stet config list --profile staging --json'],
  flags: { '--show-origin': 'also show the origin of each value' },
  parse: (raw) => ({ showsOrigin: raw.flags.showOrigin }),
  async run(_, ctx) {
    const { config, lock, apiKey, projectId, versionRef, ...settings } = await ctx.settings()
    const fromLock = lock && { value: lock.version.ref ?? lock.version.uuid, origin: 'lock file' }
    const unset = { value: null, origin: 'default' }
    const files = settings.configFile ? 'configuration' : 'default'
    const values: Setting[] = [
      { name: 'baseUrl', ...settings.baseUrl },
      { name: 'profile', ...settings.profile },
      { name: 'apiKey', ...(apiKey ? { value: maskApiKey(apiKey.value), origin: apiKey.origin } : unset) },
      { name: 'projectId', ...(projectId ?? unset) },
      { name: 'version', ...(versionRef ?? fromLock ?? { value: 'live', origin: 'default' }) },
      { name: 'promptsDir', value: config.promptsDir, origin: files },
      { name: 'include', value: config.include.join(' '), origin: files },
      { name: 'ignore', value: config.ignore.join(' '), origin: files },
    ]
    const credentials = await readCredentials(settings.credentialsFile, ctx.warn)
    const names = [...new Set([...Object.keys(credentials), ...Object.keys(config.profiles)])].sort()
    const profiles = names.map((name) => ({
      name,
      baseUrl: config.profiles[name]?.baseUrl ?? credentials[name]?.baseUrl ?? null,
      keyName: credentials[name]?.keyName ?? null,
    }))
    const { configFile, lockFile, credentialsFile } = settings
    return { values, profiles, files: { config: configFile ?? null, lock: lock ? lockFile : null, credentialsFile } }
  },
  print({ values, profiles }, { io, say }, { showsOrigin }) {
    const columns = [
      { head: 'SETTING', cell: ({ name }: Setting) => name },
      { head: 'VALUE', cell: ({ value }: Setting) => String(value ?? '-') },
      ...(showsOrigin ? [{ head: 'FROM', cell: ({ origin }: Setting) => origin }] : []),
    ]
    io.out(formatTable(columns, values, io))
    for (const { name, baseUrl, keyName } of profiles) {
      say(`profile ${name}: ${baseUrl ?? 'no address'} · ${keyName === null ? 'no login' : `key "${keyName}"`}`)
    }
  },
})
