import type { Experiment, ExperimentItem, ExperimentRow, ItemScore } from '@stet/contract/vocabulary'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { isMissing, stet } from '../../app/session.ts'
import { evaluationQuery, noLabelReason, sendLabel } from '../labels.ts'
import { changeRow, reloadCounts, reloadRows, shownRow } from '../queries.ts'
import { type Undo, useRowChange } from '../rows/editable-cell.tsx'
import { withScore } from './grid-model.ts'

interface Labeling {
  row: ExperimentRow
  item: ExperimentItem
  /** Null removes one's label. */
  passed: boolean | null
  /** It takes back a label or a removal, and is not taken back itself. */
  undoes?: 'label' | 'removal'
}

/**
 * What a person does to a cell: label it, and change what its row expects. Each can be undone.
 *
 * @param evaluationUuid the one that gets the labels
 */
export function useCellChanges({ uuid, projectId }: Experiment, evaluationUuid: string | null) {
  const client = useQueryClient()
  const undos = useRef<(Labeling | Undo)[]>([])
  const { data: labeled } = useQuery({ ...evaluationQuery(evaluationUuid ?? ''), enabled: evaluationUuid !== null })
  const label = useMutation({
    mutationFn: async (labeling: Labeling) => {
      const { row, item, passed, undoes } = labeling
      const { conversationUuid } = item
      if (!conversationUuid || !evaluationUuid || !labeled) throw new Error('This answer cannot be labeled.')
      const nothing = { evaluationUuid, passed: null, by: 'auto', code: null, reason: null } as const
      const shown = () => {
        const now = shownRow(client, uuid, row.exampleUuid)?.items.find((one) => one.uuid === item.uuid)
        return scoreOf(now ?? item, evaluationUuid) ?? nothing
      }
      const before = shown()
      const set = (score: ItemScore) =>
        changeRow(client, uuid, row.exampleUuid, (now) => withScore(now, item.uuid, score))
      const send = async () => {
        if (undoes === 'label') {
          // The earlier label may be another person's. Then it counts again without one's own, which may be gone.
          await stet.evaluations.removeLabel(conversationUuid, evaluationUuid)
          if (passed === null) return
          await reloadRows(client, uuid)
          const now = shown()
          if (now.by === 'person' && now.passed === passed) return
        }
        if (passed !== null) set({ ...nothing, passed, by: 'person' })
        await sendLabel(labeled, conversationUuid, passed)
      }
      await send().catch((error) => {
        set(before)
        if (undoes && !isMissing(error)) undos.current.push(labeling)
        throw error
      })
      const back = before.by === 'person' ? before.passed : null
      if (!undoes) undos.current.push({ row, item, passed: back, undoes: passed === null ? 'removal' : 'label' })
      // Without the label, only the server knows which score counts.
      await (passed === null ? reloadRows(client, uuid) : reloadCounts(client, uuid))
    },
  })
  const edit = useRowChange(projectId, (exampleUuid, { expected, tags }, takeBack) => {
    if (takeBack) undos.current.push(takeBack)
    changeRow(client, uuid, exampleUuid, (row) => ({ ...row, expected, tags }))
  })
  const undo = async (): Promise<void> => {
    const last = undos.current.pop()
    if (!last) return
    if ('item' in last) return label.mutate(last)
    if (last.isOver) return undo()
    await last.run()
    if (!last.isOver) undos.current.push(last)
  }
  const noLabel = labeled ? noLabelReason(labeled) : 'the result is not read yet'
  const isLabeled = (item: ExperimentItem | undefined) => scoreOf(item, evaluationUuid)?.by === 'person'
  return { label, noLabel, isLabeled, edit, undo }
}

function scoreOf(item: ExperimentItem | undefined, evaluation: string | null): ItemScore | undefined {
  return item?.scores.find(({ evaluationUuid }) => evaluationUuid === evaluation)
}
