import type { Example } from '@stet/sdk'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useRef, useState } from 'react'
import { useBlocked } from '../../app/session.ts'
import { useRowKeys } from '../../app/shortcuts.ts'
import { Button, join } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Menu, MenuItem, MenuLink } from '../../ui/menu.tsx'
import { Table } from '../../ui/table.tsx'
import { counted } from '../../ui/time.tsx'
import css from '../grid.module.css'
import { EditableCell } from './editable-cell.tsx'
import { rowFields } from './row-fields.ts'
import { Tags } from './tags.tsx'

interface RowTableProps {
  projectId: number
  rows: readonly Example[]
  /** The last result of a row. */
  resultOf: (row: Example) => ReactNode
  onRun: (row: Example) => void
  onDelete: (row: Example) => Promise<unknown>
  /** So many rows are shown. */
  shown: number
  onMore: () => void
}

/** The examples of a prompt, each field edited in its place. */
export function RowTable({ projectId, rows, resultOf, onRun, onDelete, shown, onMore }: RowTableProps) {
  const box = useRef<HTMLDivElement>(null)
  const blocked = useBlocked('write')
  useRowKeys(box, 'Examples')
  return (
    <div ref={box} className={join(css['stack'], css['examples'])}>
      <Table label="Examples" head={[...rowFields.map(({ label }) => label), 'Last result', '']}>
        {rows.slice(0, shown).map((row) => (
          <tr key={row.uuid}>
            {rowFields.map((field) => (
              <td key={field.name} data-field={field.name}>
                <EditableCell {...{ projectId, row, field, blocked }}>
                  {field.name === 'tags' && row.tags.length > 0 && (
                    <span className={css['flow']}>
                      <Tags tags={row.tags} />
                    </span>
                  )}
                </EditableCell>
              </td>
            ))}
            <td data-field="result">{resultOf(row)}</td>
            <td>
              <RowMenu {...{ row, blocked }} onRun={() => onRun(row)} onDelete={() => onDelete(row)} />
            </td>
          </tr>
        ))}
      </Table>
      {rows.length > shown && <Button onClick={onMore}>Show more of {counted(rows.length, 'row')}</Button>}
    </div>
  )
}

interface RowMenuProps {
  row: Example
  blocked: string | false
  onRun: () => void
  onDelete: () => Promise<unknown>
}

function RowMenu({ row: { name, sourceRunUuid }, blocked, onRun, onDelete }: RowMenuProps) {
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <Menu
        align="end"
        trigger={
          <Button look="quiet" square aria-label={`More for ${name}`}>
            <Icon name="more" />
          </Button>
        }
      >
        <MenuItem onSelect={onRun}>Open in the run pane</MenuItem>
        {sourceRunUuid && (
          <MenuLink link={<Link to="/runs/$run" params={{ run: sourceRunUuid }} />}>Open the run it came from</MenuLink>
        )}
        <MenuItem blocked={blocked} danger onSelect={() => setAsking(true)}>
          Delete {name}
        </MenuItem>
      </Menu>
      <Confirm
        title={`Delete the example ${name}?`}
        text="Deletes the example for everyone in the project. Results of earlier experiments stay."
        action="Delete"
        danger
        open={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={onDelete}
      />
    </>
  )
}
