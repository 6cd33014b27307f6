import { readFileSync } from 'node:fs'

export interface Frame {
  functionName: string
  /** Empty for V8 internals and native code. */
  url: string
  /** Lines start at 0. */
  lineNumber: number
}

/** The time during which exactly this stack was active. The innermost frame comes first. */
export interface TimedStack {
  frames: readonly Frame[]
  micros: number
}

interface CpuProfile {
  nodes: { id: number; callFrame: Frame; children?: number[] }[]
  samples: number[]
  timeDeltas: number[]
}

export function readCpuProfile(file: string): TimedStack[] {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8')) as CpuProfile
  const parents = new Map(nodes.flatMap(({ id, children }) => (children ?? []).map((child) => [child, id] as const)))
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const micros = new Map<number, number>()
  for (const [at, id] of samples.entries()) micros.set(id, (micros.get(id) ?? 0) + (timeDeltas[at + 1] ?? 0))
  return [...micros].map(([leaf, time]) => {
    const stack: Frame[] = []
    for (let id: number | undefined = leaf; id !== undefined; id = parents.get(id)) {
      const frame = frames.get(id)
      if (frame && frame.functionName !== '(root)') stack.push(frame)
    }
    return { frames: stack, micros: time }
  })
}
