import { defineCommand, hasFlag } from '../command.ts'
import { readCredentials, writeCredentials } from '../settings/credentials.ts'

export const command = defineCommand({
  summary: 'Forgets the kept API key of the profile. The key itself stays valid.',
  examples: ['stet logout', 'stet logout --all'],
  flags: [{ long: '--all', summary: 'forget the keys of all profiles' }],
  parse: (raw) => ({ isAll: hasFlag(raw, 'all') }),
  async run({ isAll }, ctx) {
    const { credentialsFile, profile } = await ctx.settings()
    const credentials = await readCredentials(credentialsFile, ctx.warn)
    const removed = Object.keys(credentials).filter((name) => isAll || name === profile.value)
    for (const name of removed) delete credentials[name]
    if (removed.length > 0) await writeCredentials(credentialsFile, credentials)
    return { removed }
  },
  print({ removed }, { style, say }) {
    if (removed.length === 0) return say('There was no login')
    say(`${style.ok} Forgot the key of ${removed.join(', ')}; the key itself stays valid until it is revoked`)
  },
})
