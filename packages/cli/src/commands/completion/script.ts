import type { Flag } from '../../settings/global-flags.ts'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

export interface CompletionWords {
  commands: { words: string; summary: string; flags: readonly Flag[]; takesPrompts: boolean }[]
  groups: Readonly<Record<string, string>>
  globalFlags: readonly Flag[]
}

// Lists local files without a request. Needs no quoting: prompt paths contain only letters, digits, ".", "-", "_" and
// "/".
const listPaths = 'command stet prompts list --local 2>/dev/null'

/** The script starts stet only to complete a prompt path. */
export function completionScript(shell: Shell, words: CompletionWords): string {
  if (shell === 'fish') return fishScript(words)
  return shell === 'bash' ? bashScript(words) : zshScript(words)
}

/** Completions after the typed words. `flags` apply if the current word begins with `-`. */
interface Candidates {
  words: string[]
  flags: string[]
}

function candidatesOf({ commands, globalFlags }: CompletionWords): Map<string, Candidates> {
  const found = new Map<string, Candidates>()
  const at = (words: string): Candidates => {
    const known = found.get(words)
    const candidates = known ?? { words: [], flags: globalFlags.map(({ long }) => long) }
    if (!known) found.set(words, candidates)
    return candidates
  }
  for (const { words, flags } of commands) {
    const [first = '', second] = words.split(' ')
    const top = at('')
    if (!top.words.includes(first)) top.words.push(first)
    if (second !== undefined) at(first).words.push(second)
    at(words).flags.unshift(...flags.map(({ long }) => long))
  }
  return found
}

// Returns shell code that collects the command's words and skips flags. Words after a complete command are its
// arguments. zsh reserves names such as "words", so the variables begin with `stet_`.
function shellFunction(words: CompletionWords, typed: string, answer: (candidates: Candidates) => string): string {
  const cases = [...candidatesOf(words)].map(([key, candidates]) => `    '${key}') ${answer(candidates)} ;;`)
  const names = words.commands.map((one) => `'${one.words}'`).join('|')
  const below = subcommandsOfCommands(words).map((name) => `'${name}'`)
  return `  local stet_line='' stet_word stet_skip=''
  for stet_word in ${typed}; do
    if [ -n "$stet_skip" ]; then stet_skip=''; continue; fi
    case "$stet_word" in
      ${flagsWithValue(words).join('|')}) stet_skip=1 ;;
      -*) ;;
      *)
        case "$stet_line $stet_word" in
          ${below.join('|')}) stet_line="$stet_line $stet_word" ;;
          *)
            case "$stet_line" in
              ${names}) ;;
              *) stet_line="\${stet_line:+$stet_line }$stet_word" ;;
            esac ;;
        esac ;;
    esac
  done
  case "$stet_line" in
${cases.join('\n')}
  esac`
}

/** A further word after a complete command is its argument, except for these. */
function subcommandsOfCommands({ commands }: CompletionWords): string[] {
  const names = commands.map(({ words }) => words)
  return names.filter((name) => names.includes(name.slice(0, Math.max(0, name.lastIndexOf(' ')))))
}

// Omits a flag that takes a value in one command but not in another, because a switch must not skip the next word.
function flagsWithValue({ commands, globalFlags }: CompletionWords): string[] {
  const all = [...globalFlags, ...commands.flatMap(({ flags }) => flags)]
  const switches = new Set(all.filter(({ value }) => value === undefined).map(({ long }) => long))
  const taking = all.filter(({ long, value }) => value !== undefined && !switches.has(long))
  return [...new Set(taking.flatMap(({ long, short }) => (short ? [long, short] : [long])))]
}

function promptCommands({ commands }: CompletionWords, separator: string): string {
  const names = commands.filter(({ takesPrompts }) => takesPrompts).map(({ words }) => `'${words}'`)
  return names.join(separator)
}

function bashScript(words: CompletionWords): string {
  const answer = (list: Candidates): string => `next='${list.words.join(' ')}' flags='${list.flags.join(' ')}'`
  const body = shellFunction(words, '"${COMP_WORDS[@]:1:COMP_CWORD-1}"', answer)
  return `# stet completion for bash
_stet() {
  local next='' flags='' current="\${COMP_WORDS[COMP_CWORD]}"
${body}
  case "$current" in -*) next=$flags ;; esac
  # Without a candidate bash offers files: the arguments of a command.
  COMPREPLY=($(compgen -W "$next" -- "$current"))
  case "$current" in -*) return ;; esac
  case "$stet_line" in
    ${promptCommands(words, '|')})
      local path
      while IFS= read -r path; do
        case "$path" in "$current"*) COMPREPLY+=("$path") ;; esac
      done < <(${listPaths}) ;;
  esac
}
complete -o default -F _stet stet
`
}

function zshScript(words: CompletionWords): string {
  const answer = (list: Candidates): string => `next=(${list.words.join(' ')}) flags=(${list.flags.join(' ')})`
  const body = shellFunction(words, '"${stet_typed[@]}"', answer)
  return `#compdef stet
_stet() {
  local -a next flags stet_typed
  stet_typed=("\${(@)words[2,CURRENT-1]}")
${body}
  if [[ $PREFIX = -* ]]; then compadd -a flags
  elif (( $#next )); then compadd -a next
  else
    case "$stet_line" in
      ${promptCommands(words, '|')}) compadd -- \${(f)"$(${listPaths})"} ;;
    esac
    _files
  fi
}
# Called by the completion system itself, or read from a start-up file.
if [ "$funcstack[1]" = _stet ]; then _stet "$@"; else compdef _stet stet; fi
`
}

function fishScript(words: CompletionWords): string {
  const { commands, groups, globalFlags } = words
  const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const names = commands.map((one) => `'${one.words}'`).join(' ')
  const below = subcommandsOfCommands(words).map((name) => `'${name}'`)
  const flagOf = ({ long, short, value, summary }: Flag): string =>
    `${short ? ` -s ${short.slice(1)}` : ''} -l ${long.slice(2)}${value ? ' -r -F' : ''} -d ${quote(summary)}`
  const lines = [
    `# stet completion for fish
function __stet_line -d 'the words of the command, without flags and arguments'
  set -l line ''
  set -l skip ''
  for word in (commandline -opc)[2..]
    if test -n "$skip"
      set skip ''
      continue
    end
    switch "$word"
      case ${flagsWithValue(words).join(' ')}
        set skip 1
      case '-*'
      case '*'
        if contains -- "$line $word" ${below.join(' ')}; or not contains -- "$line" ${names}
          set line (string trim -- "$line $word")
        end
    end
  end
  echo $line
end
function __stet_at -d 'whether these are the words so far'
  test (__stet_line)"" = "$argv"
end
function __stet_open -d 'whether further words belong to the command'
  not contains -- (__stet_line)"" ${names}
end
complete -c stet -n __stet_open -f`,
  ]
  for (const flag of globalFlags) lines.push(`complete -c stet${flagOf(flag)}`)
  for (const [group, summary] of Object.entries(groups)) {
    lines.push(`complete -c stet -n '__stet_at' -a ${group} -d ${quote(summary)}`)
  }
  for (const { words: name, summary, flags, takesPrompts } of commands) {
    const [first = '', second] = name.split(' ')
    const before = second === undefined ? '' : ` ${first}`
    lines.push(`complete -c stet -n '__stet_at${before}' -a ${second ?? first} -d ${quote(summary)}`)
    if (takesPrompts) lines.push(`complete -c stet -n '__stet_at ${name}' -a '(${listPaths})'`)
    for (const flag of flags) lines.push(`complete -c stet -n '__stet_at ${name}'${flagOf(flag)}`)
  }
  return `${lines.join('\n')}\n`
}
