import { defineCommand } from '../../command.ts'
import { CliError } from '../../exit-code.ts'
import { describeEntry, entryFlags, parseEntry, readToken } from './entry.ts'

export const command = defineCommand({
  summary: 'Stores a provider key. The token is read from standard input or from masked input, never from a flag.',
  examples: [
    'stet providers add openai --type openai --token-stdin < key.txt',
    'stet providers add local --type custom --url http://127.0.0.1:11434/v1 --token-stdin <<< none',
  ],
  args: { '<name>': 'the name that prompts use' },
  flags: { '--type <kind>': 'openai, anthropic, google, azure, custom, ...', ...entryFlags },
  parse(raw) {
    const provider = raw.flags.type
    if (provider === undefined)
      throw new CliError('usage', 'Missing input: the provider type', { hint: 'pass --type <kind>' })
    return { name: raw.args[0] ?? '', provider, entry: parseEntry(raw) }
  },
  async run({ name, provider, entry }, ctx) {
    const { readsToken, ...settings } = entry
    const token = readsToken
      ? await readToken(ctx)
      : await ctx.ask({ message: 'Token', isSecret: true, flag: '--token-stdin' })
    return (await ctx.client()).providerKeys.create({ name, provider, token, ...settings })
  },
  print(entry, { style, say }) {
    say(`${style.ok} ${describeEntry(entry)}`)
    // The address is first used by a call, so a wrong path would appear only in a run.
    say(`  Test it:  stet providers test ${entry.name}${entry.defaultModel ? '' : ' --model <model>'}`)
  },
})
