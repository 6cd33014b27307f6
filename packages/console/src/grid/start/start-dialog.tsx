import { ApiError, type Example } from '@stet/sdk'
import { useMemo, useState } from 'react'
import { Failure } from '../../app/failure.tsx'
import { ArmSettings } from '../../runs/compare/arm-settings.tsx'
import { type Arm, mostArms } from '../../runs/compare/arms.ts'
import { decimalIn } from '../../runs/inputs/input-value.ts'
import { Button, join } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Notice } from '../../ui/states.tsx'
import { costText, counted } from '../../ui/time.tsx'
import css from '../grid.module.css'
import { Part } from '../part.tsx'
import { type MisfitRow, misfitText } from './arms-of.ts'
import type { useStart } from './use-start.ts'

interface StartDialogProps {
  projectId: number
  rows: readonly Example[]
  /** The arms that it begins with. */
  asked: readonly Arm[]
  start: ReturnType<typeof useStart>
}

const trialChoices = [1, 2, 3, 4, 5]
/** The budget of the server, in USD, if none is chosen. */
const budgetUsd = 2

/** Chooses what is compared, and says what it may cost before anything runs. */
export function StartDialog({ projectId, rows, asked, start }: StartDialogProps) {
  const [arms, setArms] = useState(asked)
  const [tag, setTag] = useState('')
  const [trials, setTrials] = useState(1)
  const [budget, setBudget] = useState(String(budgetUsd))
  const tags = useMemo(() => [...new Set(rows.flatMap((row) => row.tags))].toSorted(), [rows])
  const count = rows.filter((row) => !tag || row.tags.includes(tag)).length
  const usd = start.estimate(arms, count * trials)
  const budgetNumber = decimalIn(budget)
  const isBudget = budgetNumber > 0 && Number.isFinite(budgetNumber)
  const change = (at: number, arm: Arm) => setArms(arms.map((one, place) => (place === at ? arm : one)))
  return (
    <FormDialog
      title={`Run ${counted(count, 'row')}`}
      text={`${counted(count * trials * arms.length, 'run')}, ${costsText(usd)}.`}
      wide
      submit="Run all"
      busy={start.isPending}
      missing={count === 0 ? 'no row has this tag' : !isBudget && 'the budget must be a number above 0'}
      onSubmit={() => start.start(arms, { ...(tag && { tag }), trials, budgetUsd: budgetNumber })}
      onClose={start.close}
    >
      <div className={join(css['fields'], css['arms'])}>
        {arms.map((arm, at) => (
          <Part
            // biome-ignore lint/suspicious/noArrayIndexKey: an arm is what is in its place
            key={at}
            title={at === 0 && arms.length > 1 ? 'Baseline' : `Arm ${at + 1}`}
            what={`arm ${at + 1}`}
            onRemove={arms.length > 1 ? () => setArms(arms.filter((_, place) => place !== at)) : undefined}
          >
            <ArmSettings projectId={projectId} arm={arm} blocked={false} onChange={(next) => change(at, next)} />
          </Part>
        ))}
        {arms.length < mostArms && (
          <Button onClick={() => setArms([...arms, arms.at(-1) ?? {}])}>
            <Icon name="plus" /> Add an arm
          </Button>
        )}
      </div>
      <div className={css['fields']}>
        {tags.length > 0 && (
          <SelectField label="Rows" value={tag} onChange={({ target }) => setTag(target.value)}>
            <option value="">All</option>
            {tags.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </SelectField>
        )}
        <SelectField label="Trials" value={trials} onChange={({ target }) => setTrials(Number(target.value))}>
          {trialChoices.map((count) => (
            <option key={count}>{count}</option>
          ))}
        </SelectField>
        <TextField
          label="Budget"
          note="USD"
          inputMode="decimal"
          value={budget}
          onChange={({ target }) => setBudget(target.value)}
        />
      </div>
      {start.tools.length > 0 && (
        <Notice tone="amber">
          The server calls {start.tools.join(', ')} for real on each run. Other tools answer with the results of the
          row.
        </Notice>
      )}
      {start.error && (
        <Failure error={start.error} what="Nothing was started">
          {rowsIn(start.error)}
        </Failure>
      )}
    </FormDialog>
  )
}

function costsText(usd: number | null): string {
  return usd === null ? 'cost unknown: no run of this prompt has a price yet' : `about ${costText(usd)}`
}

/** The rows that do not fit an arm, as the server names them. */
function rowsIn(error: unknown): string {
  if (!(error instanceof ApiError)) return ''
  const { rows = [] } = Object(error.details) as { rows?: MisfitRow[] }
  return rows.map((row) => ` ${row.name}: ${misfitText(row)}`).join(';')
}
