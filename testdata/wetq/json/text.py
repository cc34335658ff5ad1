# text.py QUESTION FILE: the answer to a question, given as JSON, as the text that wetq prints without --json
import json, re, sys

question, answer = sys.argv[1], json.load(open(sys.argv[2]))
word = re.sub(r'-[fnt] [^ ]+ |-+[a-z]+ ', '', question).split()[0]


def number(s):
    return '%x' % int(s, 0) if int(s, 0) >= 0 else '%x' % (int(s, 0) + 2 ** 64)


def where(d):
    return '%s %s %d' % (d['file'] or '?', d['function'] or '?', d['line'])


def refs(d):
    return ''.join(' %s:%x/%d' % (r['kind'], r['address'], r['size']) for r in d['references'])


if word == 'list':
    for s in answer['statements']:
        print(s['statement'], s['executions'], '%x' % s['address'], where(s))
elif word == 'cf':
    for s in answer['statements']:
        print(s)
elif word == 'values':
    for v in answer['values']:
        print('    %d:%s' % (v['instance'], number(v['value'])))
elif word == 'addrs':
    for r in answer['references']:
        print('%d:%s %x %d' % (r['instance'], r['kind'], r['address'], r['size']))
elif word == 'slice' and 'instances' in answer:
    for s in answer['instances']:
        value = ' =' + number(s['value']) if s['value'] is not None else ''
        print('%d#%d %x%s%s' % (s['statement'], s['instance'], s['address'], value, refs(s)))
elif word == 'slice':
    for s in answer['statements']:
        print(s['statement'], s['instances'], s['executions'], '%x' % s['address'], where(s))
elif word == 'dot':
    print('digraph slice {\n\tnode [shape=box]')
    for s in answer['statements']:
        many = ' x %d' % s['instances'] if s['instances'] != 1 else ''
        func = '\\n' + s['function'] if s['function'] else ''
        line = ':%d' % s['line'] if s['file'] else ''
        print('\ts%d [label="%d%s\\n%x%s%s"]' % (s['statement'], s['statement'], many, s['address'], func, line))
    for e in answer['dependences']:
        dashed = ' style=dashed' if e['kind'] == 'control' else ''
        print('\ts%d -> s%d [label="%d"%s]' % (e['statement'], e['on'], e['instances'], dashed))
    print('}')
elif word == 'annotate':        # without the lines that have no statement
    for f in answer['files']:
        print(f['file'])
        for n in f['lines']:
            print('%10d:%6d:%s' % (n['instances'], n['line'], n['source']))
elif word == 'dice':
    for n in answer['lines']:
        print('%s:%d:%s' % (n['file'], n['line'], n['source'] or ''))
elif word == 'arch' and 'instances' in answer:
    for x in answer['instances']:
        print(x['instance'], *('-' if x[k] is None else x[k] for k in ('mispredicted', 'load_misses', 'store_misses')))
elif word == 'arch':
    for x in answer['statements']:
        print(x['statement'], x['executions'],
              *('-' if x[k] is None else x[k] for k in ('mispredicted', 'load_misses', 'store_misses')))
else:
    sys.exit('no such question: ' + question)
