import type { RunState as State } from '@stet/sdk'
import { Chip, type Tone } from '../ui/mark.tsx'

const states: Record<State, { text: string; tone?: Tone }> = {
  queued: { text: 'Queued' },
  running: { text: 'Running', tone: 'blue' },
  completed: { text: 'Completed', tone: 'green' },
  error: { text: 'Failed', tone: 'red' },
  stopped: { text: 'Stopped', tone: 'amber' },
}

/** The state of a stored run in one word. Another release may know further states, which are shown as they are. */
export function runStateText(status: State): string {
  return states[status]?.text ?? status
}

/** The state of a stored run as a chip. */
export function RunState({ status }: { status: State }) {
  return <Chip tone={states[status]?.tone}>{runStateText(status)}</Chip>
}
