import { defineCommand } from '../command.ts'
import { readCredentials, writeCredentials } from '../settings/credentials.ts'

export const command = defineCommand({
  summary: "Removes the profile's saved API key. The key itself stays valid.",
  examples: ['stet logout', 'stet logout --all'],
  flags: { '--all': 'remove the keys of all profiles' },
  parse: (raw) => ({ isAll: raw.flags.all }),
  async run({ isAll }, ctx) {
    const { credentialsFile, profile } = await ctx.settings()
    const credentials = await readCredentials(credentialsFile, ctx.warn)
    const removed = Object.keys(credentials).filter((name) => isAll || name === profile.value)
    for (const name of removed) delete credentials[name]
    if (removed.length > 0) await writeCredentials(credentialsFile, credentials)
    return { removed }
  },
  print({ removed }, { style, say }) {
    if (removed.length === 0) return say('Not logged in')
    say(`${style.ok} Removed the key of ${removed.join(', ')}; the key itself stays valid until it is revoked`)
  },
})
