import { findCaseClashes, problemOfPath } from '../../sync/prompt-path.ts'

/** A prompt of another tool, in the language of stet. */
export interface ImportedPrompt {
  /** As the other tool names it; becomes a path of stet by `settlePaths`. */
  path: string
  content: string
  /** What could not be carried over, one sentence each. */
  losses: string[]
}

/** Makes names to paths that every file system takes: a name that had to change is a loss, two that meet are told apart. */
export function settlePaths(prompts: readonly ImportedPrompt[]): ImportedPrompt[] {
  const settled: ImportedPrompt[] = []
  for (const prompt of prompts) {
    const wanted = prompt.path
      .normalize('NFC')
      .split('/')
      .map(safeSegment)
      .filter((segment) => segment !== '')
      .join('/')
    const taken = settled.map(({ path }) => path)
    let path = wanted || 'prompt'
    for (let number = 2; findCaseClashes([...taken, path]).size > 0 || taken.includes(path); number += 1) {
      path = `${wanted}-${number}`
    }
    const losses = path === prompt.path ? prompt.losses : [...prompt.losses, `"${prompt.path}" is now named "${path}"`]
    settled.push({ ...prompt, path, losses })
  }
  return settled
}

function safeSegment(segment: string): string {
  const plain = segment
    .trim()
    .replaceAll(/[\\:*?"<>|\0-\x1f]+/g, '-')
    .replace(/[. ]+$/, '')
  return plain !== '' && problemOfPath(plain) ? `_${plain}` : plain
}
