import type { Flag } from '../../settings/global-flags.ts'

/** The shells that a script can be printed for. */
export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** All words of the command line. */
export interface CompletionWords {
  commands: { words: string; summary: string; flags: readonly Flag[] }[]
  /** Summaries of words that only group commands. */
  groups: Readonly<Record<string, string>>
  globalFlags: readonly Flag[]
}

/** A script for a shell; it starts nothing while completing, so it is as fast as the shell. */
export function completionScript(shell: Shell, words: CompletionWords): string {
  if (shell === 'fish') return fishScript(words)
  return shell === 'bash' ? bashScript(words) : zshScript(words)
}

/** What may follow each beginning of a command line: the next words, or the flags of a whole command. */
function candidatesOf({ commands, globalFlags }: CompletionWords): Map<string, string[]> {
  const found = new Map<string, string[]>()
  const add = (words: string, next: string): void => {
    const list = found.get(words) ?? []
    if (!list.includes(next)) found.set(words, [...list, next])
  }
  for (const { words, flags } of commands) {
    const [first = '', second] = words.split(' ')
    add('', first)
    if (second !== undefined) add(first, second)
    for (const { long } of [...flags, ...globalFlags]) add(words, long)
  }
  for (const { long } of globalFlags) add('', long)
  return found
}

// Words of the command line without flags decide; words after the command's own name are its arguments.
function shellFunction(
  words: CompletionWords,
  current: string,
  typed: string,
  answer: (list: string) => string,
): string {
  const cases = [...candidatesOf(words)].map(([key, list]) => `    '${key}') ${answer(list.join(' '))} ;;`)
  const names = words.commands.map((one) => `'${one.words}'`).join('|')
  return `  local words='' word two
  for word in ${typed}; do
    case "$word" in
      -*) ;;
      *)
        two="\${words:+$words }$word"
        case "$words" in ${names}) ;; *) words="$two" ;; esac ;;
    esac
  done
  case "$words" in
${cases.join('\n')}
  esac
  ${current}`
}

function bashScript(words: CompletionWords): string {
  const answer = (list: string): string => `candidates='${list}'`
  const body = shellFunction(words, '', '"${COMP_WORDS[@]:1:COMP_CWORD-1}"', answer)
  return `# stet completion for bash
_stet() {
  local candidates=''
${body}
  COMPREPLY=($(compgen -W "$candidates" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _stet stet
`
}

function zshScript(words: CompletionWords): string {
  const answer = (list: string): string => `candidates=(${list})`
  const body = shellFunction(words, '', '"${words_typed[@]}"', answer)
  return `#compdef stet
_stet() {
  local -a candidates words_typed
  words_typed=("\${(@)words[2,CURRENT-1]}")
${body}
  compadd -a candidates
  _files
}
compdef _stet stet
`
}

function fishScript({ commands, groups, globalFlags }: CompletionWords): string {
  const lines = ['# stet completion for fish', 'complete -c stet -f']
  const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const flagOf = ({ long, short, value, summary }: Flag): string =>
    `${short ? ` -s ${short.slice(1)}` : ''} -l ${long.slice(2)}${value ? ' -r -F' : ''} -d ${quote(summary)}`
  for (const flag of globalFlags) lines.push(`complete -c stet${flagOf(flag)}`)
  for (const [group, summary] of Object.entries(groups)) {
    lines.push(`complete -c stet -n __fish_use_subcommand -a ${group} -d ${quote(summary)}`)
  }
  for (const { words, summary, flags } of commands) {
    const [first = '', second] = words.split(' ')
    const before = second === undefined ? '__fish_use_subcommand' : `'__fish_seen_subcommand_from ${first}'`
    lines.push(`complete -c stet -n ${before} -a ${second ?? first} -d ${quote(summary)}`)
    const within = [first, second].filter((word) => word !== undefined)
    const condition = within.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ')
    for (const flag of flags) lines.push(`complete -c stet -n '${condition}'${flagOf(flag)}`)
  }
  return `${lines.join('\n')}\n`
}
