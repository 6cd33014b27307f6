"""openai-python, unchanged, against the server at STET_BASE_URL with the key in STET_API_KEY, as suite.mjs."""
import os, sys
from openai import OpenAI, APIError, NotFoundError, UnprocessableEntityError
c = OpenAI(base_url=os.environ['STET_BASE_URL'] + '/v1', api_key=os.environ['STET_API_KEY'], max_retries=1)
M = 'support/reply'
ok=bad=0
def check(n, f):
    global ok, bad
    try: r=f(); assert r is not False; ok+=1; print('ok  ', n, str(r)[:100])
    except Exception as e: bad+=1; print('FAIL', n, type(e).__name__, str(e)[:200])
U=[{'role':'user','content':'hi'}]
check('models', lambda: [m.id for m in c.models.list()])
check('retrieve', lambda: c.models.retrieve(M).id)
check('chat extra_body', lambda: c.chat.completions.create(model=M,messages=U,extra_body={'parameters':{'ticket':'P1'}}).choices[0].message.content)
check('chat stream', lambda: ''.join(k.choices[0].delta.content or '' for k in c.chat.completions.create(model=M,messages=U,stream=True) if k.choices))
def usage():
    u=None
    for k in c.chat.completions.create(model=M,messages=U,stream=True,stream_options={'include_usage':True}): u=k.usage or u
    return u.total_tokens
check('chat usage chunk', usage)
def helper():
    with c.chat.completions.stream(model=M,messages=U) as s:
        for e in s: pass
        return s.get_final_completion().choices[0].message.content
check('chat stream helper', helper)
check('responses', lambda: c.responses.create(model=M,input='hi',extra_body={'parameters':{'ticket':'P2'}}).output_text)
check('prompt object', lambda: c.responses.create(prompt={'id':M,'version':'3','variables':{'ticket':'P3'}}).output_text)
def rs():
    with c.responses.stream(model=M,input='hi THINK') as s:
        for e in s: pass
        return s.get_final_response().output_text
check('responses stream helper', rs)
def bg():
    t='';last=None;rid=None
    for e in c.responses.create(model=M,input='hi',background=True,stream=True):
        if hasattr(e,'response'): rid=rid or e.response.id
        last=e.sequence_number
        if e.type=='response.output_text.delta': t+=e.delta
        if len(t)>15: break
    for e in c.responses.retrieve(rid,stream=True,starting_after=last):
        if e.type=='response.output_text.delta': t+=e.delta
    assert c.responses.retrieve(rid).output_text==t; return t
check('background resume', bg)
def rsid():
    a=c.responses.create(model=M,input='hi',background=True)
    with c.responses.stream(response_id=a.id,starting_after=2) as s:
        for e in s: pass
        return s.get_final_response().output_text
check('stream by id', rsid)
check('cancel', lambda: c.responses.cancel(c.responses.create(model=M,input='hi',background=True).id).status)
def err(kind, f):
    try: f()
    except kind as e: return f'{type(e).__name__} {e.code} {e.message}'
    return False
check('422', lambda: err(UnprocessableEntityError, lambda: c.chat.completions.create(model=M,messages=[{'role':'user','content':'FAIL'}])))
check('404', lambda: err(NotFoundError, lambda: c.responses.create(model='x/y',input='')))
check('mid-stream', lambda: err(APIError, lambda: [0 for _ in c.chat.completions.create(model=M,messages=[{'role':'user','content':'FAIL'}],stream=True)]))
from pydantic import BaseModel
class A(BaseModel): answer: str; n: int
check('parse', lambda: c.responses.parse(model=M,input='hi',text_format=A).output_parsed.n)
check('chat parse', lambda: c.chat.completions.parse(model=M,messages=U,response_format=A).choices[0].message.parsed.n)
print(ok,'ok,',bad,'failed')
sys.exit(1 if bad else 0)
