import type { Run, RunState as State } from '@stet/sdk'
import { withSigns } from '../ui/hidden-characters.ts'
import { Chip, type Tone } from '../ui/mark.tsx'
import layout from '../ui/styles/layout.module.css'

const states: Record<State, { text: string; tone?: Tone }> = {
  queued: { text: 'Queued' },
  running: { text: 'Running', tone: 'blue' },
  completed: { text: 'Completed', tone: 'green' },
  error: { text: 'Failed', tone: 'red' },
  stopped: { text: 'Stopped', tone: 'amber' },
}

/** The state of a stored run in one word. Other releases may have further states, which are shown as they are. */
export function runStateText(status: State): string {
  return states[status]?.text ?? status
}

/** The state of a stored run as a chip. */
export function RunState({ status }: { status: State }) {
  return <Chip tone={states[status]?.tone}>{runStateText(status)}</Chip>
}

/** The tags that people and applications gave. Those of feedback are shown as thumbs. */
export function ownTags(tags: readonly string[]): string[] {
  return tags.filter((tag) => !tag.startsWith('feedback:'))
}

/** The feedback and the tags of a run as chips. */
export function Tags({ run: { tags, feedback } }: { run: Pick<Run, 'tags' | 'feedback'> }) {
  return (
    <>
      {feedback && <Chip tone={feedback === 'down' ? 'red' : 'green'}>thumbs {feedback}</Chip>}
      {ownTags(tags).map((tag) => (
        <Chip key={tag} className={layout['tag'] ?? ''}>
          {withSigns(tag)}
        </Chip>
      ))}
    </>
  )
}
