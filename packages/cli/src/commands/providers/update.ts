import { defined } from '@stet/template/defined'
import { defineCommand } from '../../command.ts'
import { CliError } from '../../exit-code.ts'
import { describeEntry, entryFlags, findEntry, parseEntry, readToken } from './entry.ts'

export const command = defineCommand({
  summary: 'Changes a stored provider key; omitted settings stay unchanged. The next model call uses it.',
  examples: [
    'stet providers update openai --token-stdin < new-key.txt',
    'stet providers update openai --default-model gpt-6-luna',
  ],
  args: { '<name>': 'the stored provider key' },
  flags: { '--rename <name>': 'new name', ...entryFlags },
  parse(raw) {
    const name = raw.flags.rename
    const entry = parseEntry(raw)
    if (name === undefined && !entry.readsToken && Object.keys(entry).length === 1) {
      throw new CliError('usage', 'Nothing to change', {
        hint: 'pass --token-stdin, --url, --default-model or --rename',
      })
    }
    return { ref: raw.args[0] ?? '', name, entry }
  },
  async run({ ref, name, entry }, ctx) {
    const client = await ctx.client()
    const { readsToken, ...settings } = entry
    const { id } = await findEntry(client, ref)
    const changes = { ...settings, ...defined({ name }) }
    return client.providerKeys.update(id, readsToken ? { ...changes, token: await readToken(ctx) } : changes)
  },
  print(entry, { style, say }) {
    say(`${style.ok} ${describeEntry(entry)}`)
  },
})
