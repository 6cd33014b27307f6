import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { stet, useBlocked } from '../app/session.ts'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { Menu, MenuGroup, MenuItem, MenuLink } from '../ui/menu.tsx'

const CreateEvaluation = lazy(() => import('./create-evaluation.tsx'))

/** The evaluations of a prompt: judges with their agreement, others with the answers that wait for a label. */
export function EvaluationsMenu({ projectId, documentUuid }: { projectId: number; documentUuid: string }) {
  const [creating, setCreating] = useState<'rule' | 'judge' | null>(null)
  const needsWrite = useBlocked('write')
  const { data = [] } = useQuery({
    queryKey: ['project', projectId, 'evaluations', documentUuid],
    queryFn: ({ signal }) => stet.evaluations.list({ projectId, documentUuid, signal }),
  })
  const project = String(projectId)
  const labeled = data.filter(({ builtIn, metric }) => builtIn !== 'feedback' && metric === 'binary')
  return (
    <>
      <Menu
        align="end"
        trigger={
          <Button look="quiet">
            Evaluations <Icon name="down" />
          </Button>
        }
      >
        {labeled.length > 0 && (
          <MenuGroup label="Evaluations">
            {labeled.map(({ uuid, name, type }) => (
              <MenuLink
                key={uuid}
                note={type === 'judge' ? 'judge' : 'label'}
                link={
                  <Link
                    to={type === 'judge' ? '/p/$project/judges/$evaluation' : '/p/$project/queue/$evaluation'}
                    params={{ project, evaluation: uuid }}
                  />
                }
              >
                {name}
              </MenuLink>
            ))}
          </MenuGroup>
        )}
        {(['rule', 'judge'] as const).map((type) => (
          <MenuItem key={type} blocked={needsWrite} onSelect={() => setCreating(type)}>
            Create a {type}
          </MenuItem>
        ))}
      </Menu>
      {creating && (
        <Suspense>
          <CreateEvaluation {...{ projectId, documentUuid }} type={creating} onClose={() => setCreating(null)} />
        </Suspense>
      )}
    </>
  )
}
