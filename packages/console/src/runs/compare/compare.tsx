import { useState, useSyncExternalStore } from 'react'
import { Button, Hidden, join } from '../../ui/button.tsx'
import { CheckField } from '../../ui/field.tsx'
import layout from '../../ui/styles/layout.module.css'
import { say } from '../../ui/toast.tsx'
import { watchRuns } from '../session/watch-runs.ts'
import { ArmColumn, type EditorPart } from './arm-column.tsx'
import css from './compare.module.css'
import type { Comparison } from './comparison.ts'

interface CompareProps {
  comparison: Comparison
  projectId: number
  editor: EditorPart
}

/** The arms side by side. The first one is what the others are compared with. */
export default function Compare({ comparison, projectId, editor }: CompareProps) {
  const columns = useSyncExternalStore(watchRuns, () => comparison.columns)
  const [showsDifference, setShowsDifference] = useState(false)
  const [first] = columns
  const remove = (text: string, change: () => void) => {
    change()
    say(text, { label: 'Undo', onSelect: () => comparison.restore(columns) })
  }
  return (
    <section className={layout['apart']} aria-label="Comparison" data-compare data-keeps-focus="h2">
      <header className={join(layout['row'], layout['head'])}>
        <h2 className={layout['title']} tabIndex={-1}>
          Comparison
        </h2>
        <CheckField
          label={
            <>
              Difference<Hidden> to the first arm</Hidden>
            </>
          }
          checked={showsDifference}
          onChange={({ target }) => setShowsDifference(target.checked)}
        />
        <Button
          look="quiet"
          className={layout['aside']}
          onClick={() => remove('The comparison has ended', () => comparison.close())}
        >
          End<Hidden> the comparison</Hidden>
        </Button>
      </header>
      <div className={css['columns']}>
        {columns.map((column, at) => (
          <ArmColumn
            key={column.id}
            {...{ column, comparison, projectId, editor, showsDifference }}
            number={at + 1}
            base={column === first ? null : (first ?? null)}
            onRemove={() => remove(`Arm ${at + 1} was removed`, () => comparison.remove(column.id))}
          />
        ))}
      </div>
    </section>
  )
}
