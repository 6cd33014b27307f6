import { type Command, defineCommand, type TableEntry } from '../../command.ts'
import { CliError } from '../../exit-code.ts'
import { globalFlags } from '../../settings/global-flags.ts'
import { type CompletionWords, completionScript, shells } from '../completion/script.ts'

/** The table is a parameter, because importing the table here would be circular. */
export function commandOf(table: Readonly<Record<string, TableEntry>>, groups: CompletionWords['groups']): Command {
  return defineCommand({
    summary: 'Prints a script that completes commands, flags and prompt paths in a shell.',
    examples: [
      'stet completion bash > ~/.local/share/bash-completion/completions/stet',
      'stet completion zsh > "${fpath[1]}/_stet"',
      'stet completion fish > ~/.config/fish/completions/stet.fish',
    ],
    args: { '<shell>': shells.join(', ') },
    parse(raw) {
      const shell = shells.find((one) => one === raw.args[0])
      if (!shell)
        throw new CliError('usage', `Unknown shell: ${raw.args[0]}`, { hint: `use one of ${shells.join(', ')}` })
      return { shell }
    },
    async run({ shell }) {
      return { shell, script: completionScript(shell, { commands: await readCommands(table), groups, globalFlags }) }
    },
    print: ({ script }, { io }) => io.out(script),
  })
}

async function readCommands(table: Readonly<Record<string, TableEntry>>): Promise<CompletionWords['commands']> {
  const commands: CompletionWords['commands'] = []
  for (const [words, { summary, load }] of Object.entries(table)) {
    const { flags, args } = (await load()).command
    commands.push({
      words,
      summary,
      flags,
      takesPrompts: Object.keys(args).some((form) => /^\W(path|from)\b/.test(form)),
    })
  }
  return commands
}
