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

// Words without flags decide; those after a command's own name are its arguments. The names are its own: zsh keeps "words" for itself.
function shellFunction(words: CompletionWords, typed: string, answer: (list: string) => string): string {
  const cases = [...candidatesOf(words)].map(([key, list]) => `    '${key}') ${answer(list.join(' '))} ;;`)
  const names = words.commands.map((one) => `'${one.words}'`).join('|')
  return `  local stet_line='' stet_word stet_skip=''
  for stet_word in ${typed}; do
    if [ -n "$stet_skip" ]; then stet_skip=''; continue; fi
    case "$stet_word" in
      ${flagsWithValue(words).join('|')}) stet_skip=1 ;;
      -*) ;;
      *)
        case "$stet_line" in
          ${names}) ;;
          *) stet_line="\${stet_line:+$stet_line }$stet_word" ;;
        esac ;;
    esac
  done
  case "$stet_line" in
${cases.join('\n')}
  esac`
}

// A name that is a switch of one command and takes a value in another is left out: a switch must not swallow a word.
function flagsWithValue({ commands, globalFlags }: CompletionWords): string[] {
  const all = [...globalFlags, ...commands.flatMap(({ flags }) => flags)]
  const switches = new Set(all.filter(({ value }) => value === undefined).map(({ long }) => long))
  const taking = all.filter(({ long, value }) => value !== undefined && !switches.has(long))
  return [...new Set(taking.flatMap(({ long, short }) => (short ? [long, short] : [long])))]
}

function bashScript(words: CompletionWords): string {
  const answer = (list: string): string => `candidates='${list}'`
  const body = shellFunction(words, '"${COMP_WORDS[@]:1:COMP_CWORD-1}"', answer)
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
  const body = shellFunction(words, '"${stet_typed[@]}"', answer)
  return `#compdef stet
_stet() {
  local -a candidates stet_typed
  stet_typed=("\${(@)words[2,CURRENT-1]}")
${body}
  compadd -a candidates
  _files
}
# Called by the completion system itself, or read from a start-up file.
if [ "$funcstack[1]" = _stet ]; then _stet "$@"; else compdef _stet stet; fi
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
