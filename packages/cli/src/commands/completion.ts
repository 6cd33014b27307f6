import { defineCommand } from '../command.ts'
import { type CompletionWords, completionScript, shells } from '../completion/script.ts'
import { CliError } from '../exit-code.ts'
import { globalFlags } from '../settings/global-flags.ts'

export const command = defineCommand({
  summary: 'Prints a script that completes commands and flags in a shell.',
  examples: [
    'stet completion bash > ~/.local/share/bash-completion/completions/stet',
    'stet completion zsh > "${fpath[1]}/_stet"',
    'stet completion fish > ~/.config/fish/completions/stet.fish',
  ],
  args: [{ name: 'shell', summary: shells.join(', '), isRequired: true }],
  parse(raw) {
    const shell = shells.find((one) => one === raw.args[0])
    if (!shell) throw new CliError('usage', `Not a shell: ${raw.args[0]}`, { hint: `one of ${shells.join(', ')}` })
    return { shell }
  },
  async run({ shell }) {
    return { shell, script: completionScript(shell, await readWords()) }
  },
  print: ({ script }, { io }) => io.out(script),
})

// The table is loaded here and not above: it names this command too.
async function readWords(): Promise<CompletionWords> {
  const { commandTable, groupSummaries } = await import('./table.ts')
  const commands: CompletionWords['commands'] = []
  for (const [name, entry] of Object.entries(commandTable)) {
    const { command: loaded } = await entry.load()
    commands.push({ words: name, summary: entry.summary, flags: loaded.flags })
  }
  return { commands, groups: groupSummaries, globalFlags }
}
