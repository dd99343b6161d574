<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="it" sourcelanguage="en">
<context>
    <name>Desk</name>
    <message>
        <source>The model was not loaded</source>
        <translation>Il modello non è stato caricato</translation>
    </message>
</context>
<context>
    <name>EngineError</name>
    <message>
        <source>The engine does not take this value.</source>
        <translation>Il motore non accetta questo valore.</translation>
    </message>
    <message>
        <source>The engine does not find it.</source>
        <translation>Il motore non lo trova.</translation>
    </message>
    <message>
        <source>The engine cannot do this.</source>
        <translation>Il motore non può farlo.</translation>
    </message>
    <message>
        <source>The engine cannot do this now.</source>
        <translation>Il motore ora non può farlo.</translation>
    </message>
    <message>
        <source>There is no room for it now.</source>
        <translation>Ora non c&apos;è spazio.</translation>
    </message>
    <message>
        <source>The limit of the tenant is reached.</source>
        <translation>Il limite dell&apos;utenza è raggiunto.</translation>
    </message>
    <message>
        <source>It was cancelled.</source>
        <translation>È stato annullato.</translation>
    </message>
    <message>
        <source>It took longer than it may.</source>
        <translation>Ci ha messo più del tempo concesso.</translation>
    </message>
    <message>
        <source>The data is damaged or is something else.</source>
        <translation>I dati sono danneggiati o sono altro.</translation>
    </message>
    <message>
        <source>A file cannot be read or written.</source>
        <translation>Un file non si può leggere o scrivere.</translation>
    </message>
    <message>
        <source>The device that computes failed.</source>
        <translation>Il dispositivo di calcolo ha avuto un guasto.</translation>
    </message>
    <message>
        <source>Something else stands in the way.</source>
        <translation>C&apos;è qualcos&apos;altro di mezzo.</translation>
    </message>
    <message>
        <source>The engine does not know this key.</source>
        <translation>Il motore non conosce questa chiave.</translation>
    </message>
    <message>
        <source>This key has no right to do it.</source>
        <translation>Questa chiave non ha il permesso di farlo.</translation>
    </message>
    <message>
        <source>Larder itself made a mistake.</source>
        <translation>È un errore di Larder stesso.</translation>
    </message>
</context>
<context>
    <name>JobWords</name>
    <message>
        <source>Move to disk</source>
        <translation>Sposta su disco</translation>
    </message>
    <message>
        <source>Move to memory</source>
        <translation>Sposta in memoria</translation>
    </message>
    <message>
        <source>Copy to disk</source>
        <translation>Copia su disco</translation>
    </message>
    <message>
        <source>Copy to memory</source>
        <translation>Copia in memoria</translation>
    </message>
    <message>
        <source>Verify</source>
        <translation>Verifica</translation>
    </message>
    <message>
        <source>waits</source>
        <translation>in attesa</translation>
    </message>
    <message>
        <source>done</source>
        <translation>finito</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>non riuscito</translation>
    </message>
    <message>
        <source>cancelled</source>
        <translation>annullato</translation>
    </message>
    <message numerus="yes">
        <source>%Ln blocks · %1</source>
        <translation>
            <numerusform>%Ln blocco · %1</numerusform>
            <numerusform>%Ln blocchi · %1</numerusform>
        </translation>
    </message>
    <message>
        <source>Written to disk</source>
        <translation>Scritti su disco</translation>
    </message>
    <message>
        <source>Read into memory</source>
        <translation>Letti in memoria</translation>
    </message>
    <message>
        <source>Leave memory</source>
        <translation>Lasciano la memoria</translation>
    </message>
    <message>
        <source>Copies that leave the disk</source>
        <translation>Copie che lasciano il disco</translation>
    </message>
    <message>
        <source>There already</source>
        <translation>Già al loro posto</translation>
    </message>
    <message>
        <source>Good copies</source>
        <translation>Copie integre</translation>
    </message>
    <message>
        <source>Damaged and dropped</source>
        <translation>Danneggiate e scartate</translation>
    </message>
    <message>
        <source>Missing on disk</source>
        <translation>Mancanti su disco</translation>
    </message>
    <message>
        <source>Copies to read and prove</source>
        <translation>Copie da leggere e controllare</translation>
    </message>
    <message>
        <source>Could not be read</source>
        <translation>Non leggibili ora</translation>
    </message>
    <message>
        <source>Stay: pinned</source>
        <translation>Restano: fissati</translation>
    </message>
    <message>
        <source>Stay: in use</source>
        <translation>Restano: in uso</translation>
    </message>
    <message>
        <source>Stay: still growing</source>
        <translation>Restano: crescono ancora</translation>
    </message>
    <message>
        <source>Stay: others hang on them</source>
        <translation>Restano: altri dipendono da loro</translation>
    </message>
    <message>
        <source>Stay: the disk takes no copy</source>
        <translation>Restano: il disco non accetta copie</translation>
    </message>
    <message>
        <source>Stay: no room in memory</source>
        <translation>Restano: manca posto in memoria</translation>
    </message>
    <message>
        <source>Gone meanwhile</source>
        <translation>Spariti nel frattempo</translation>
    </message>
    <message>
        <source>Bytes before and after</source>
        <translation>Byte prima e dopo</translation>
    </message>
    <message>
        <source>Rounding error</source>
        <translation>Errore di arrotondamento</translation>
    </message>
    <message>
        <source>Tokens to compute</source>
        <translation>Token da calcolare</translation>
    </message>
    <message>
        <source>Tokens computed</source>
        <translation>Token calcolati</translation>
    </message>
    <message>
        <source>%1, about %2</source>
        <translation>%1, circa %2</translation>
    </message>
    <message>
        <source>Compress to %1</source>
        <translation>Comprimi in %1</translation>
    </message>
    <message>
        <source>Compute exactly again</source>
        <translation>Ricalcola esatto</translation>
    </message>
    <message>
        <source>Blocks computed again</source>
        <translation>Blocchi ricalcolati</translation>
    </message>
    <message>
        <source>Blocks rounded on disk</source>
        <translation>Blocchi arrotondati su disco</translation>
    </message>
    <message>
        <source>Rounded copies that leave the disk</source>
        <translation>Copie arrotondate che lasciano il disco</translation>
    </message>
</context>
<context>
    <name>LinkBanner</name>
    <message>
        <source>Lost the connection to %1</source>
        <translation>Connessione persa con %1</translation>
    </message>
    <message>
        <source>Try now</source>
        <translation>Riprova ora</translation>
    </message>
    <message>
        <source>%1 does not answer</source>
        <translation>%1 non risponde</translation>
    </message>
    <message>
        <source>The engine did not start</source>
        <translation>Il motore non si è avviato</translation>
    </message>
    <message>
        <source>Other programs cannot reach this engine</source>
        <translation>Gli altri programmi non raggiungono questo motore</translation>
    </message>
    <message>
        <source>This window cannot use %1</source>
        <translation>Questa finestra non può usare %1</translation>
    </message>
</context>
<context>
    <name>MissText</name>
    <message>
        <source>the prompt</source>
        <translation>il prompt</translation>
    </message>
    <message>
        <source>tok</source>
        <translation>tok</translation>
    </message>
    <message>
        <source>%1 tokens were computed. That cost %2.</source>
        <translation>Sono stati calcolati %1 token. Costo: %2.</translation>
    </message>
    <message>
        <source>Another text on the way: %1</source>
        <translation>Altro testo lungo la strada: %1</translation>
    </message>
    <message>
        <source>What was cached ends at token %1, in “%2”; the rest is new text: %3</source>
        <translation>La parte in cache finisce al token %1, in “%2”; il resto è testo nuovo: %3</translation>
    </message>
    <message>
        <source>Token %1, in “%2”, is another one</source>
        <translation>Il token %1, in “%2”, è diverso</translation>
    </message>
    <message>
        <source>“%1” stands where “%2” stood in “%3”</source>
        <translation>In “%3” c&apos;è “%1” dove prima c&apos;era “%2”</translation>
    </message>
    <message>
        <source>%1, so the %2 equal tokens after it were computed again. That cost %3.</source>
        <translation>%1, perciò i %2 token uguali che seguono sono stati ricalcolati. Costo: %3.</translation>
    </message>
    <message>
        <source>%1; from there on %2</source>
        <translation>%1; da lì in poi %2</translation>
    </message>
    <message>
        <source>It was cached and gave way: %1</source>
        <translation>Era in cache e ha ceduto il posto: %1</translation>
    </message>
    <message>
        <source>%1 needed room</source>
        <translation>%1 aveva bisogno di spazio</translation>
    </message>
    <message>
        <source>they were deleted</source>
        <translation>sono stati eliminati</translation>
    </message>
    <message>
        <source>the model was unloaded</source>
        <translation>il modello è stato tolto dalla memoria</translation>
    </message>
    <message>
        <source>These %1 tokens were cached until %2, when %3. Computing them again cost %4.</source>
        <translation>Questi %1 token erano in cache fino alle %2, quando %3. Ricalcolarli è costato %4.</translation>
    </message>
    <message>
        <source>another model file</source>
        <translation>un altro file di modello</translation>
    </message>
    <message>
        <source>other position settings</source>
        <translation>altre impostazioni di posizione</translation>
    </message>
    <message>
        <source>another number format</source>
        <translation>un altro formato numerico</translation>
    </message>
    <message>
        <source>another block layout</source>
        <translation>un&apos;altra forma dei blocchi</translation>
    </message>
    <message>
        <source>another adapter</source>
        <translation>un altro adattatore</translation>
    </message>
    <message>
        <source>other arithmetic</source>
        <translation>un&apos;altra aritmetica</translation>
    </message>
    <message>
        <source>another lineage (exact, or rounded to a smaller form)</source>
        <translation>un&apos;altra provenienza (esatta, o arrotondata a una forma più piccola)</translation>
    </message>
    <message>
        <source>The reused tokens were kept rounded to %1.</source>
        <translation>I token riusati erano conservati arrotondati a %1.</translation>
    </message>
    <message>
        <source>another identity</source>
        <translation>un&apos;altra identità</translation>
    </message>
    <message>
        <source>nobody, eviction is not the cause</source>
        <translation>nessuno: la causa non è un&apos;espulsione</translation>
    </message>
    <message>
        <source>%1, %2 before</source>
        <translation>%1, %2 prima</translation>
    </message>
    <message>
        <source>%1 × in what is kept, %2</source>
        <translation>%1 × in ciò che è conservato, %2</translation>
    </message>
    <message>
        <source>least recently used</source>
        <translation>usato meno di recente</translation>
    </message>
    <message>
        <source>least recently used, over its quota</source>
        <translation>usato meno di recente, oltre il suo limite</translation>
    </message>
    <message>
        <source>deleted by hand</source>
        <translation>eliminato a mano</translation>
    </message>
    <message>
        <source>model unloaded</source>
        <translation>modello tolto dalla memoria</translation>
    </message>
    <message>
        <source>another request</source>
        <translation>un&apos;altra richiesta</translation>
    </message>
    <message>
        <source>request #%1 of %2</source>
        <translation>la richiesta #%1 di %2</translation>
    </message>
    <message>
        <source>another tenant</source>
        <translation>un&apos;altra utenza</translation>
    </message>
    <message>
        <source>The request failed: %1</source>
        <translation>La richiesta è fallita: %1</translation>
    </message>
    <message>
        <source>This request has not been looked up yet.</source>
        <translation>Questa richiesta non è stata ancora cercata nella cache.</translation>
    </message>
    <message>
        <source>The same tokens are cached under %1, whose numbers are not the same: %2</source>
        <translation>Gli stessi token sono in cache con %1, i cui numeri non sono gli stessi: %2</translation>
    </message>
    <message>
        <source>Nothing that is cached starts like this prompt: %1</source>
        <translation>Nulla di ciò che è in cache comincia come questo prompt: %1</translation>
    </message>
    <message numerus="yes">
        <source>A prompt of %n tokens is shorter than can be reused; the last token is always computed.</source>
        <translation>
            <numerusform>Un prompt di %n token è troppo corto per il riuso; l&apos;ultimo token si calcola sempre.</numerusform>
            <numerusform>Un prompt di %n token è troppo corto per il riuso; l&apos;ultimo token si calcola sempre.</numerusform>
        </translation>
    </message>
    <message>
        <source>The request asked for no reuse: %1</source>
        <translation>La richiesta ha escluso il riuso: %1</translation>
    </message>
    <message>
        <source>Everything before the last message was reused: %1 of %2 tokens. That saved %3.</source>
        <translation>Riusato tutto ciò che precede l&apos;ultimo messaggio: %1 token su %2. Risparmio: %3.</translation>
    </message>
    <message>
        <source>No token differs: the text is the same, its numbers were no longer there.</source>
        <translation>Nessun token è diverso: il testo è lo stesso, i suoi numeri non c&apos;erano più.</translation>
    </message>
    <message>
        <source>First difference: token %1 of %2</source>
        <translation>Prima differenza: token %1 di %2</translation>
    </message>
    <message>
        <source> · block %1, token %2 of %3</source>
        <translation> · blocco %1, token %2 di %3</translation>
    </message>
    <message>
        <source> · section “%1”</source>
        <translation> · sezione “%1”</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 di %2</translation>
    </message>
    <message>
        <source> = %1 blocks + %2 copied</source>
        <translation> = %1 blocchi + %2 copiati</translation>
    </message>
    <message>
        <source>Reused</source>
        <translation>Riusati</translation>
    </message>
    <message>
        <source>Evicted by</source>
        <translation>Espulso da</translation>
    </message>
    <message>
        <source>Computed</source>
        <translation>Calcolati</translation>
    </message>
    <message>
        <source>%1 at %2, measured</source>
        <translation>%1 a %2, misurati</translation>
    </message>
    <message>
        <source>Rule</source>
        <translation>Regola</translation>
    </message>
    <message>
        <source>Lost</source>
        <translation>Persi</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 token</translation>
    </message>
    <message>
        <source>Last hit</source>
        <translation>Ultimo riuso</translation>
    </message>
    <message>
        <source>never</source>
        <translation>mai</translation>
    </message>
    <message>
        <source>Same cause</source>
        <translation>Stessa causa</translation>
    </message>
    <message>
        <source>Saved</source>
        <translation>Risparmiati</translation>
    </message>
    <message>
        <source>%1 at that rate</source>
        <translation>%1 a quel ritmo</translation>
    </message>
    <message>
        <source>Request #%1, %2</source>
        <translation>Richiesta #%1, %2</translation>
    </message>
    <message>
        <source>Verdict: %1</source>
        <translation>Esito: %1</translation>
    </message>
    <message>
        <source>Token ids: %1 here, %2 cached (request #%3)</source>
        <translation>Id dei token: %1 qui, %2 in cache (richiesta #%3)</translation>
    </message>
    <message>
        <source>Section %1: tokens %2 to %3</source>
        <translation>Sezione %1: token da %2 a %3</translation>
    </message>
    <message>
        <source>Times: prepare %1, queue %2, look up %3, prefill %4, first token after %5</source>
        <translation>Tempi: preparazione %1, coda %2, ricerca %3, prefill %4, primo token dopo %5</translation>
    </message>
    <message>
        <source>These %1 tokens lay on disk only. Computing them costs %2.</source>
        <translation>Questi %1 token erano solo sul disco. Calcolarli costa %2.</translation>
    </message>
    <message>
        <source>These %1 tokens were cached until %2, when their copy on disk gave way. Computing them again cost %3.</source>
        <translation>Questi %1 token sono rimasti in cache fino alle %2, quando la loro copia sul disco ha fatto posto. Ricalcolarli è costato %3.</translation>
    </message>
    <message>
        <source>from disk</source>
        <translation>dal disco</translation>
    </message>
    <message>
        <source>from memory</source>
        <translation>dalla memoria</translation>
    </message>
    <message>
        <source>from another machine</source>
        <translation>da un altro computer</translation>
    </message>
    <message>
        <source>from a lower tier</source>
        <translation>da un livello inferiore</translation>
    </message>
    <message>
        <source>restoring would take %1, computing %2</source>
        <translation>il ripristino richiederebbe %1, il calcolo %2</translation>
    </message>
    <message>
        <source>memory had no room for them in time</source>
        <translation>la memoria non aveva posto in tempo</translation>
    </message>
    <message>
        <source>another request was still reading them</source>
        <translation>un&apos;altra richiesta li stava ancora leggendo</translation>
    </message>
    <message>
        <source>reading fell behind and would have taken about %1 more, computing %2</source>
        <translation>la lettura era in ritardo e avrebbe richiesto ancora circa %1, calcolarli %2</translation>
    </message>
    <message>
        <source>the rest was read meanwhile, about %1 in all, where reading everything would take %2</source>
        <translation>il resto è stato letto nel frattempo, circa %1 in tutto, mentre leggere tutto richiederebbe %2</translation>
    </message>
    <message>
        <source>what was read did not pass its checks and was dropped</source>
        <translation>ciò che è stato letto non ha superato i controlli ed è stato scartato</translation>
    </message>
    <message>
        <source>nobody, it lay on disk only</source>
        <translation>nessuno, era solo sul disco</translation>
    </message>
    <message>
        <source>nobody, its copy on disk gave way</source>
        <translation>nessuno, la copia sul disco ha fatto posto</translation>
    </message>
    <message>
        <source>lay on disk only</source>
        <translation>era solo sul disco</translation>
    </message>
    <message>
        <source>its copy on disk gave way</source>
        <translation>la copia sul disco ha fatto posto</translation>
    </message>
    <message>
        <source>Restored %1 tokens %2 in %3</source>
        <translation>Ripristinati %1 token %2 in %3</translation>
    </message>
    <message>
        <source>%1; computing them would take %2.</source>
        <translation>%1; calcolarli richiederebbe %2.</translation>
    </message>
    <message>
        <source>%1 tokens were computed though they could be restored %2</source>
        <translation>%1 token sono stati calcolati anche se si potevano ripristinare %2</translation>
    </message>
    <message>
        <source>they were found damaged in memory</source>
        <translation>sono stati trovati danneggiati in memoria</translation>
    </message>
    <message>
        <source>nobody, it was found damaged in memory</source>
        <translation>nessuno, è stato trovato danneggiato in memoria</translation>
    </message>
    <message>
        <source>found damaged in memory</source>
        <translation>trovato danneggiato in memoria</translation>
    </message>
    <message>
        <source>the pool was made smaller</source>
        <translation>la riserva è stata ridotta</translation>
    </message>
    <message>
        <source>pool made smaller</source>
        <translation>riserva ridotta</translation>
    </message>
    <message>
        <source>they were rounded, and the rounded copy is gone</source>
        <translation>sono stati arrotondati e la copia arrotondata non c’è più</translation>
    </message>
    <message>
        <source>from copies in memory</source>
        <translation>da copie in memoria</translation>
    </message>
    <message>
        <source>The reused tokens, or their start, were computed on another device or instruction set.</source>
        <translation>I token riusati, o il loro inizio, sono stati calcolati su un altro dispositivo o con altre istruzioni.</translation>
    </message>
</context>
<context>
    <name>Numbers</name>
    <message>
        <source>B</source>
        <translation>B</translation>
    </message>
    <message>
        <source>ms</source>
        <translation>ms</translation>
    </message>
    <message>
        <source>s</source>
        <translation>s</translation>
    </message>
    <message>
        <source>min</source>
        <translation>min</translation>
    </message>
    <message>
        <source>h</source>
        <translation>h</translation>
    </message>
    <message>
        <source>d</source>
        <translation>g</translation>
    </message>
</context>
<context>
    <name>PageList</name>
    <message>
        <source>Overview</source>
        <translation>Panoramica</translation>
    </message>
    <message>
        <source>Prefix tree</source>
        <translation>Albero prefissi</translation>
    </message>
    <message>
        <source>Packs</source>
        <translation>Pacchetti</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelli</translation>
    </message>
    <message>
        <source>Tenants &amp; keys</source>
        <translation>Utenze e chiavi</translation>
    </message>
    <message>
        <source>Requests</source>
        <translation>Richieste</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>Chat</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Impostazioni</translation>
    </message>
    <message>
        <source>Tiers</source>
        <translation>Livelli</translation>
    </message>
</context>
<context>
    <name>RemoteDecode</name>
    <message>
        <source>It answered with HTTP status %1.</source>
        <translation>Ha risposto con lo stato HTTP %1.</translation>
    </message>
</context>
<context>
    <name>RequestFilter</name>
    <message>
        <source>a word is missing after the colon</source>
        <translation>manca una parola dopo i due punti</translation>
    </message>
    <message>
        <source>there is no verdict “%1”; use %2</source>
        <translation>l&apos;esito “%1” non esiste; usa %2</translation>
    </message>
    <message>
        <source>there is no state “%1”; use %2</source>
        <translation>lo stato “%1” non esiste; usa %2</translation>
    </message>
    <message>
        <source>“%1” is no number of a request, write #5127</source>
        <translation>“%1” non è il numero di una richiesta, scrivi #5127</translation>
    </message>
    <message>
        <source>“%1” needs a number, as in %2&gt;500</source>
        <translation>“%1” vuole un numero, come in %2&gt;500</translation>
    </message>
    <message>
        <source>there is no field “%1”; use tenant:, model:, verdict:, state:</source>
        <translation>il campo “%1” non esiste; usa tenant:, model:, verdict:, state:</translation>
    </message>
</context>
<context>
    <name>SettingChoice</name>
    <message>
        <source>automatic</source>
        <translation>automatico</translation>
    </message>
    <message>
        <source>beside the window</source>
        <translation>accanto alla finestra</translation>
    </message>
    <message>
        <source>portable</source>
        <translation>per ogni processore</translation>
    </message>
    <message>
        <source>processor</source>
        <translation>processore</translation>
    </message>
    <message>
        <source>graphics card (CUDA)</source>
        <translation>scheda grafica (CUDA)</translation>
    </message>
    <message>
        <source>what was used longest ago</source>
        <translation>ciò che non si usa da più tempo</translation>
    </message>
    <message>
        <source>everything, for finding faults</source>
        <translation>tutto, per cercare guasti</translation>
    </message>
    <message>
        <source>what happens</source>
        <translation>che cosa accade</translation>
    </message>
    <message>
        <source>warnings and errors</source>
        <translation>avvisi ed errori</translation>
    </message>
    <message>
        <source>errors only</source>
        <translation>solo errori</translation>
    </message>
    <message>
        <source>light</source>
        <translation>chiaro</translation>
    </message>
    <message>
        <source>dark</source>
        <translation>scuro</translation>
    </message>
    <message>
        <source>ask</source>
        <translation>chiedi</translation>
    </message>
    <message>
        <source>keep serving in the tray</source>
        <translation>continua a servire dall&apos;area di notifica</translation>
    </message>
    <message>
        <source>stop serving</source>
        <translation>smetti di servire</translation>
    </message>
    <message>
        <source>on</source>
        <translation>attivo</translation>
    </message>
    <message>
        <source>frozen: read only</source>
        <translation>congelato: sola lettura</translation>
    </message>
    <message>
        <source>bypass: neither read nor write</source>
        <translation>escluso: né lettura né scrittura</translation>
    </message>
    <message>
        <source>off</source>
        <translation>spento</translation>
    </message>
    <message>
        <source>exact</source>
        <translation>esatta</translation>
    </message>
    <message>
        <source>rounded to 8 bits (int8)</source>
        <translation>arrotondata a 8 bit (int8)</translation>
    </message>
    <message>
        <source>rounded to 4 bits (int4)</source>
        <translation>arrotondata a 4 bit (int4)</translation>
    </message>
    <message>
        <source>always</source>
        <translation>sempre</translation>
    </message>
    <message>
        <source>precise</source>
        <translation>precisa</translation>
    </message>
</context>
<context>
    <name>SettingHelp</name>
    <message>
        <source>Longest request, prompt and answer together; the model&apos;s context and half the pool bound it too.</source>
        <translation>Richiesta più lunga, prompt e risposta insieme; la limitano anche il contesto del modello e metà della riserva.</translation>
    </message>
    <message>
        <source>Compute threads; 0 uses one per core and leaves one to the desktop where there are more than two.</source>
        <translation>Thread di calcolo; 0 ne usa uno per core e ne lascia uno al desktop se i core sono più di due.</translation>
    </message>
    <message>
        <source>Vector instructions of the CPU kernels. Another choice computes other bits: cached blocks then no longer fit.</source>
        <translation>Istruzioni vettoriali dei calcoli sul processore. Con un&apos;altra scelta cambiano i bit dei risultati: i blocchi in cache non valgono più.</translation>
    </message>
    <message>
        <source>Where models run; auto takes a usable card, else the processor.</source>
        <translation>Dove lavorano i modelli; automatico prende una scheda utilizzabile, altrimenti il processore.</translation>
    </message>
    <message>
        <source>auto attaches to whoever serves the data folder, else runs the engine in the window&apos;s process; child runs larderd beside it.</source>
        <translation>Automatico si collega a chi già serve la cartella dei dati, altrimenti il motore gira nel processo della finestra; accanto alla finestra avvia larderd.</translation>
    </message>
    <message>
        <source>Longest time one step holds the device while other answers are being written.</source>
        <translation>Tempo massimo in cui un passo tiene occupato il dispositivo mentre si scrivono altre risposte.</translation>
    </message>
    <message>
        <source>Answers computed at the same time; more wait in the queue.</source>
        <translation>Risposte calcolate insieme; le altre attendono in coda.</translation>
    </message>
    <message>
        <source>Models that may be loaded at the same time; one more takes the place of the idle one used longest ago.</source>
        <translation>Modelli che possono restare caricati insieme; uno in più prende il posto di quello inattivo usato da più tempo.</translation>
    </message>
    <message>
        <source>Prompt tokens of one step when nothing else runs.</source>
        <translation>Token del prompt letti in un passo quando non c&apos;è altro da fare.</translation>
    </message>
    <message>
        <source>Requests that may wait; one more is answered with 429.</source>
        <translation>Richieste che possono attendere; a una in più si risponde con 429.</translation>
    </message>
    <message>
        <source>Finished requests kept for the request list.</source>
        <translation>Richieste concluse conservate per l&apos;elenco.</translation>
    </message>
    <message>
        <source>Keep, in memory only, the few tokens around a difference, so that a miss can be explained.</source>
        <translation>Conserva, solo in memoria, i pochi token attorno a una differenza, per poter spiegare un mancato riuso.</translation>
    </message>
    <message>
        <source>Memory for cached prompts; 0 takes a quarter of RAM, at most half of what is free after the weights.</source>
        <translation>Memoria per i prompt in cache; 0 prende un quarto della RAM, al massimo metà di quella libera dopo i pesi.</translation>
    </message>
    <message>
        <source>Number format of cached prompts; f32 needs twice the memory.</source>
        <translation>Formato dei numeri dei prompt in cache; f32 occupa il doppio della memoria.</translation>
    </message>
    <message>
        <source>Which cached blocks give way first when the pool is full.</source>
        <translation>Quali blocchi in cache cedono il posto per primi quando la riserva è piena.</translation>
    </message>
    <message>
        <source>Share of the pool that pins may hold.</source>
        <translation>Quota della riserva che i fissaggi possono occupare.</translation>
    </message>
    <message>
        <source>Tenants that may exist.</source>
        <translation>Utenze che possono esistere.</translation>
    </message>
    <message>
        <source>Address and port of the API; port 0 picks a free one.</source>
        <translation>Indirizzo e porta dell&apos;API; con la porta 0 ne sceglie una libera.</translation>
    </message>
    <message>
        <source>Allow listening beyond this machine; every request then needs a key.</source>
        <translation>Permette di ascoltare oltre questo computer; allora ogni richiesta deve avere una chiave.</translation>
    </message>
    <message>
        <source>Serve programs on this machine without a key, as the tenant `local`, without admin right.</source>
        <translation>Serve i programmi di questo computer senza chiave, come utenza `local`, senza diritti di amministrazione.</translation>
    </message>
    <message>
        <source>Largest request body.</source>
        <translation>Corpo più grande di una richiesta.</translation>
    </message>
    <message>
        <source>Deepest nesting of a JSON body.</source>
        <translation>Annidamento massimo di un corpo JSON.</translation>
    </message>
    <message>
        <source>Open connections; one more is answered with 503.</source>
        <translation>Connessioni aperte; a una in più si risponde con 503.</translation>
    </message>
    <message>
        <source>Time a client has to send a request&apos;s head.</source>
        <translation>Tempo che un programma ha per inviare l&apos;intestazione di una richiesta.</translation>
    </message>
    <message>
        <source>Time a client has to send a request&apos;s body.</source>
        <translation>Tempo che un programma ha per inviare il corpo di una richiesta.</translation>
    </message>
    <message>
        <source>Time a kept-alive connection may stay silent.</source>
        <translation>Tempo in cui una connessione tenuta aperta può restare muta.</translation>
    </message>
    <message>
        <source>Time a client may leave an answer unread before it is cut off.</source>
        <translation>Tempo in cui un programma può lasciare una risposta non letta prima che venga interrotta.</translation>
    </message>
    <message>
        <source>Threads that serve the API.</source>
        <translation>Thread che servono l&apos;API.</translation>
    </message>
    <message>
        <source>Web origins that may call the API, separated by spaces; empty allows none.</source>
        <translation>Origini web che possono chiamare l&apos;API, separate da spazi; vuoto non ne ammette nessuna.</translation>
    </message>
    <message>
        <source>Further names by which clients reach this machine, separated by spaces; localhost and addresses always work.</source>
        <translation>Altri nomi con cui i programmi raggiungono questo computer, separati da spazi; localhost e gli indirizzi valgono sempre.</translation>
    </message>
    <message>
        <source>What is written to the log; never prompt text.</source>
        <translation>Che cosa si scrive nel registro; mai il testo dei prompt.</translation>
    </message>
    <message>
        <source>Language of the window.</source>
        <translation>Lingua della finestra.</translation>
    </message>
    <message>
        <source>Colours of the window.</source>
        <translation>Colori della finestra.</translation>
    </message>
    <message>
        <source>How often the window looks.</source>
        <translation>Ogni quanto la finestra guarda il motore.</translation>
    </message>
    <message>
        <source>What closing the window does while programs are being served.</source>
        <translation>Che cosa fa la chiusura della finestra mentre dei programmi vengono serviti.</translation>
    </message>
    <message>
        <source>Moving transitions in the window.</source>
        <translation>Transizioni in movimento nella finestra.</translation>
    </message>
    <message>
        <source>The first-run guide was finished.</source>
        <translation>La guida iniziale è stata completata.</translation>
    </message>
    <message>
        <source>Cached prompts on disk: on keeps and serves them; frozen serves what is there; bypass does neither for now; off leaves the folder alone from the next start.</source>
        <translation>Prompt conservati sul disco: attivo li tiene e li usa; congelato usa ciò che c&apos;è; escluso per ora non fa né l&apos;uno né l&apos;altro; spento lascia stare la cartella dal prossimo avvio.</translation>
    </message>
    <message>
        <source>How cached prompts are kept on disk from now on: exact gives the same answers bit for bit; int8 takes about half the room and int4 less than a third, rounded, and each answer from them says so. Pinned ones stay exact.</source>
        <translation>Come i prompt conservati si tengono sul disco da ora in poi: esatta dà le stesse risposte bit per bit; int8 occupa circa la metà e int4 meno di un terzo, arrotondati, e ogni risposta che ne viene lo dice. Quelli fissati restano esatti.</translation>
    </message>
    <message>
        <source>When cached prompts are read back from disk: auto where that is measured to be faster than computing them.</source>
        <translation>Quando i prompt conservati si rileggono dal disco: automatico, dove si misura che è più veloce che calcolarli.</translation>
    </message>
    <message>
        <source>Room on disk for cached prompts, counted in real bytes; what was used longest ago gives way.</source>
        <translation>Spazio sul disco per i prompt conservati, contato in byte reali; fa posto ciò che non si usa da più tempo.</translation>
    </message>
    <message>
        <source>Room on the disk that is never used; 0 keeps the larger of 5 % and 1 GiB free.</source>
        <translation>Spazio del disco che non si usa mai; 0 tiene libero il maggiore tra il 5 % e 1 GiB.</translation>
    </message>
    <message>
        <source>Blocks that lie on disk only and are known in memory, about 600 bytes each; pinned ones and those used last come first.</source>
        <translation>Blocchi che stanno solo su disco e sono noti in memoria, circa 600 byte ciascuno; prima quelli fissati e quelli usati per ultimi.</translation>
    </message>
    <message>
        <source>Most that is written in one day, to spare the disk; above half of it only prompts that others shared are kept.</source>
        <translation>Il massimo che si scrive in un giorno, per risparmiare il disco; oltre la metà si tengono solo i prompt già condivisi da altri.</translation>
    </message>
    <message>
        <source>Memory for copies of what is on disk, in the form in which it lies there, so that what left the pool comes back without the disk; 0 keeps none. With store.codec it holds two to three times as much as the pool would.</source>
        <translation>Memoria per le copie di ciò che sta su disco, nella forma in cui sta lì, così che quanto ha lasciato il pool torna senza il disco; 0 non ne tiene. Con store.codec contiene da due a tre volte quanto ne conterrebbe il pool.</translation>
    </message>
    <message>
        <source>How activations meet quantised weights: int8 rounds them in groups of 32, which is fastest; precise keeps them as they are; auto takes int8 where the kernels have it. Cached blocks of one do not fit the other.</source>
        <translation>Come le attivazioni incontrano i pesi quantizzati: int8 le arrotonda a gruppi di 32 ed è il più veloce; precise le lascia come sono; auto sceglie int8 dove le istruzioni del processore lo permettono. I blocchi in cache dell&apos;uno non valgono per l&apos;altro.</translation>
    </message>
</context>
<context>
    <name>SettingText</name>
    <message>
        <source>“%1” cannot be used: enter a whole number from %2 to %3%4.</source>
        <translation>“%1” non va bene: scrivi un numero intero da %2 a %3%4.</translation>
    </message>
    <message>
        <source>This text has %1 bytes; from %2 to %3 can be used.</source>
        <translation>Questo testo ha %1 byte; ne sono ammessi da %2 a %3.</translation>
    </message>
    <message>
        <source>on</source>
        <translation>sì</translation>
    </message>
    <message>
        <source>off</source>
        <translation>no</translation>
    </message>
    <message>
        <source>empty</source>
        <translation>vuoto</translation>
    </message>
    <message>
        <source>default: %1</source>
        <translation>predefinito: %1</translation>
    </message>
    <message>
        <source>from %1 to %2</source>
        <translation>da %1 a %2</translation>
    </message>
    <message>
        <source>at most %1 bytes</source>
        <translation>al massimo %1 byte</translation>
    </message>
    <message>
        <source>takes effect after a restart</source>
        <translation>vale dopo un riavvio</translation>
    </message>
    <message>
        <source>takes effect at once</source>
        <translation>vale da subito</translation>
    </message>
    <message>
        <source>Window: look and language</source>
        <translation>Finestra: aspetto e lingua</translation>
    </message>
    <message>
        <source>Engine</source>
        <translation>Motore</translation>
    </message>
    <message>
        <source>Block pool</source>
        <translation>Riserva di blocchi</translation>
    </message>
    <message>
        <source>Pins</source>
        <translation>Fissaggi</translation>
    </message>
    <message>
        <source>Tenants</source>
        <translation>Utenze</translation>
    </message>
    <message>
        <source>API</source>
        <translation>API</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Registro</translation>
    </message>
    <message>
        <source>Disk tier</source>
        <translation>Livello su disco</translation>
    </message>
</context>
<context>
    <name>SettingTitle</name>
    <message>
        <source>Longest request</source>
        <translation>Richiesta più lunga</translation>
    </message>
    <message>
        <source>Compute threads</source>
        <translation>Thread di calcolo</translation>
    </message>
    <message>
        <source>Vector instructions</source>
        <translation>Istruzioni vettoriali</translation>
    </message>
    <message>
        <source>Where models run</source>
        <translation>Dove lavorano i modelli</translation>
    </message>
    <message>
        <source>Where the engine runs</source>
        <translation>Dove gira il motore</translation>
    </message>
    <message>
        <source>Longest step</source>
        <translation>Passo più lungo</translation>
    </message>
    <message>
        <source>Answers at the same time</source>
        <translation>Risposte insieme</translation>
    </message>
    <message>
        <source>Models at the same time</source>
        <translation>Modelli insieme</translation>
    </message>
    <message>
        <source>Prompt tokens of one step</source>
        <translation>Token del prompt per passo</translation>
    </message>
    <message>
        <source>Longest queue</source>
        <translation>Coda più lunga</translation>
    </message>
    <message>
        <source>Requests in the list</source>
        <translation>Richieste nell&apos;elenco</translation>
    </message>
    <message>
        <source>Keep the words around a difference</source>
        <translation>Conserva le parole attorno a una differenza</translation>
    </message>
    <message>
        <source>Memory of the pool</source>
        <translation>Memoria della riserva</translation>
    </message>
    <message>
        <source>Number format</source>
        <translation>Formato dei numeri</translation>
    </message>
    <message>
        <source>What gives way first</source>
        <translation>Che cosa cede il posto</translation>
    </message>
    <message>
        <source>Share for pins</source>
        <translation>Quota per i fissaggi</translation>
    </message>
    <message>
        <source>Most tenants</source>
        <translation>Numero massimo di utenze</translation>
    </message>
    <message>
        <source>Address and port</source>
        <translation>Indirizzo e porta</translation>
    </message>
    <message>
        <source>Serve other machines</source>
        <translation>Servi altri computer</translation>
    </message>
    <message>
        <source>Serve this machine without a key</source>
        <translation>Servi questo computer senza chiave</translation>
    </message>
    <message>
        <source>Largest request</source>
        <translation>Richiesta più grande</translation>
    </message>
    <message>
        <source>Deepest nesting</source>
        <translation>Annidamento massimo</translation>
    </message>
    <message>
        <source>Most connections</source>
        <translation>Numero massimo di connessioni</translation>
    </message>
    <message>
        <source>Wait for the head of a request</source>
        <translation>Attesa dell&apos;intestazione</translation>
    </message>
    <message>
        <source>Wait for the body of a request</source>
        <translation>Attesa del corpo</translation>
    </message>
    <message>
        <source>Wait on a silent connection</source>
        <translation>Attesa su una connessione muta</translation>
    </message>
    <message>
        <source>Wait on an unread answer</source>
        <translation>Attesa su una risposta non letta</translation>
    </message>
    <message>
        <source>Threads of the API</source>
        <translation>Thread dell&apos;API</translation>
    </message>
    <message>
        <source>Web origins</source>
        <translation>Origini web</translation>
    </message>
    <message>
        <source>Names of this machine</source>
        <translation>Nomi di questo computer</translation>
    </message>
    <message>
        <source>What is logged</source>
        <translation>Che cosa va nel registro</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Lingua</translation>
    </message>
    <message>
        <source>Colours</source>
        <translation>Colori</translation>
    </message>
    <message>
        <source>Refresh</source>
        <translation>Aggiornamento</translation>
    </message>
    <message>
        <source>Closing the window</source>
        <translation>Chiusura della finestra</translation>
    </message>
    <message>
        <source>Animations</source>
        <translation>Animazioni</translation>
    </message>
    <message>
        <source>First-run guide finished</source>
        <translation>Guida iniziale completata</translation>
    </message>
    <message>
        <source>Cached prompts on disk</source>
        <translation>Prompt conservati sul disco</translation>
    </message>
    <message>
        <source>Reading back from disk</source>
        <translation>Rilettura dal disco</translation>
    </message>
    <message>
        <source>Form on disk</source>
        <translation>Forma sul disco</translation>
    </message>
    <message>
        <source>Room on disk</source>
        <translation>Spazio sul disco</translation>
    </message>
    <message>
        <source>Kept free on the disk</source>
        <translation>Lasciato libero sul disco</translation>
    </message>
    <message>
        <source>Blocks on disk known in memory</source>
        <translation>Blocchi su disco noti in memoria</translation>
    </message>
    <message>
        <source>Written in one day</source>
        <translation>Scritto in un giorno</translation>
    </message>
    <message>
        <source>Memory for copies</source>
        <translation>Memoria per le copie</translation>
    </message>
    <message>
        <source>Arithmetic</source>
        <translation>Aritmetica</translation>
    </message>
</context>
<context>
    <name>SettingUnit</name>
    <message>
        <source>tokens</source>
        <translation>token</translation>
    </message>
    <message>
        <source>threads</source>
        <translation>thread</translation>
    </message>
    <message>
        <source>ms</source>
        <translation>ms</translation>
    </message>
    <message>
        <source>sequences</source>
        <translation>sequenze</translation>
    </message>
    <message>
        <source>requests</source>
        <translation>richieste</translation>
    </message>
    <message>
        <source>bytes</source>
        <translation>byte</translation>
    </message>
    <message>
        <source>percent</source>
        <translation>per cento</translation>
    </message>
    <message>
        <source>blocks</source>
        <translation>blocchi</translation>
    </message>
    <message>
        <source>models</source>
        <translation>modelli</translation>
    </message>
    <message>
        <source>tenants</source>
        <translation>utenze</translation>
    </message>
    <message>
        <source>levels</source>
        <translation>livelli</translation>
    </message>
    <message>
        <source>connections</source>
        <translation>connessioni</translation>
    </message>
</context>
<context>
    <name>TierText</name>
    <message>
        <source>%1 blocks</source>
        <translation>%1 blocchi</translation>
    </message>
    <message>
        <source>%1/s</source>
        <translation>%1/s</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 di %2</translation>
    </message>
    <message>
        <source>%1, %2 pinned</source>
        <translation>%1, %2 fissati</translation>
    </message>
    <message>
        <source>%1 faster computed</source>
        <translation>%1 più veloci da calcolare</translation>
    </message>
    <message>
        <source>%1 without room</source>
        <translation>%1 senza posto</translation>
    </message>
    <message>
        <source>%1 still being read</source>
        <translation>%1 ancora in lettura</translation>
    </message>
    <message>
        <source>%1 damaged</source>
        <translation>%1 danneggiate</translation>
    </message>
    <message>
        <source>%1, %2 beyond the tree&apos;s bound</source>
        <translation>%1, %2 oltre il limite dell&apos;albero</translation>
    </message>
    <message>
        <source>%1 read too slowly</source>
        <translation>%1 lette troppo lentamente</translation>
    </message>
    <message>
        <source>%1 in part, while the rest was read</source>
        <translation>%1 in parte, mentre il resto veniva letto</translation>
    </message>
    <message>
        <source>none</source>
        <translation>nessuna</translation>
    </message>
    <message>
        <source>nothing may be written</source>
        <translation>non si può scrivere nulla</translation>
    </message>
    <message>
        <source>%1 (%2)</source>
        <translation>%1 (%2)</translation>
    </message>
    <message>
        <source>Read</source>
        <translation>Lettura</translation>
    </message>
    <message>
        <source>Written</source>
        <translation>Scrittura</translation>
    </message>
    <message>
        <source>On the way down</source>
        <translation>In discesa</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>niente</translation>
    </message>
    <message>
        <source>Oldest of them waits</source>
        <translation>Il più vecchio attende da</translation>
    </message>
    <message>
        <source>Restored</source>
        <translation>Ripristinati</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 token</translation>
    </message>
    <message>
        <source>Requests waited for it</source>
        <translation>Attesa delle richieste</translation>
    </message>
    <message>
        <source>Computed instead, requests</source>
        <translation>Richieste che hanno calcolato</translation>
    </message>
    <message>
        <source>Written today</source>
        <translation>Scritto oggi</translation>
    </message>
    <message>
        <source>Rounded</source>
        <translation>Arrotondati</translation>
    </message>
    <message>
        <source>Gave way here</source>
        <translation>Hanno fatto posto</translation>
    </message>
    <message>
        <source>Not taken</source>
        <translation>Non accettati</translation>
    </message>
    <message>
        <source>Read and not found</source>
        <translation>Letti e non trovati</translation>
    </message>
    <message>
        <source>Left free on the disk</source>
        <translation>Lasciato libero sul disco</translation>
    </message>
    <message>
        <source>%1 damaged, %2 failed</source>
        <translation>%1 danneggiati, %2 falliti</translation>
    </message>
    <message>
        <source>frozen</source>
        <translation>congelato</translation>
    </message>
    <message>
        <source>What is on disk is served; nothing is written.</source>
        <translation>Si usa ciò che è sul disco; non si scrive nulla.</translation>
    </message>
    <message>
        <source>bypassed</source>
        <translation>escluso</translation>
    </message>
    <message>
        <source>The disk is neither read nor written for now.</source>
        <translation>Per ora il disco non si legge e non si scrive.</translation>
    </message>
    <message>
        <source>checked, 0 faults</source>
        <translation>controllato, 0 guasti</translation>
    </message>
    <message>
        <source>off</source>
        <translation>spento</translation>
    </message>
    <message>
        <source>not open yet</source>
        <translation>non ancora aperto</translation>
    </message>
    <message>
        <source>It is opened with the model.</source>
        <translation>Si apre con il modello.</translation>
    </message>
    <message>
        <source>not used</source>
        <translation>non usato</translation>
    </message>
    <message>
        <source>In use now</source>
        <translation>In uso ora</translation>
    </message>
    <message>
        <source>Kept for later</source>
        <translation>Tenuti per dopo</translation>
    </message>
    <message>
        <source>With a copy on disk</source>
        <translation>Con una copia sul disco</translation>
    </message>
    <message>
        <source>sealed with %1</source>
        <translation>sigillato con %1</translation>
    </message>
    <message>
        <source>It is turned off in the settings.</source>
        <translation>È spento nelle impostazioni.</translation>
    </message>
    <message>
        <source>5 %, at least 1 GiB</source>
        <translation>5 %, almeno 1 GiB</translation>
    </message>
    <message>
        <source>Copies in memory</source>
        <translation>Copie in memoria</translation>
    </message>
    <message>
        <source>of what lies on disk, sealed and in the same form</source>
        <translation>di ciò che sta su disco, cifrate e nella stessa forma</translation>
    </message>
    <message>
        <source>Read instead of the disk</source>
        <translation>Letti al posto del disco</translation>
    </message>
    <message>
        <source>Damaged, and read from disk</source>
        <translation>Danneggiati, e letti dal disco</translation>
    </message>
</context>
<context>
    <name>TreeRows</name>
    <message>
        <source>All models</source>
        <translation>Tutti i modelli</translation>
    </message>
    <message>
        <source>model %1</source>
        <translation>modello %1</translation>
    </message>
    <message>
        <source>tenant %1</source>
        <translation>utenza %1</translation>
    </message>
    <message>
        <source>tokens from %1</source>
        <translation>token da %1</translation>
    </message>
    <message>
        <source>system</source>
        <translation>sistema</translation>
    </message>
    <message>
        <source>developer</source>
        <translation>sviluppatore</translation>
    </message>
    <message>
        <source>user</source>
        <translation>utente</translation>
    </message>
    <message>
        <source>assistant</source>
        <translation>assistente</translation>
    </message>
    <message>
        <source>tool</source>
        <translation>attrezzo</translation>
    </message>
    <message>
        <source>template</source>
        <translation>modello di chat</translation>
    </message>
    <message>
        <source>tool %1</source>
        <translation>attrezzo %1</translation>
    </message>
    <message>
        <source>message %1</source>
        <translation>messaggio %1</translation>
    </message>
    <message>
        <source>%1 message %2</source>
        <translation>messaggio %2, %1</translation>
    </message>
</context>
<context>
    <name>Words</name>
    <message>
        <source>another tenant</source>
        <translation>un&apos;altra utenza</translation>
    </message>
    <message>
        <source>full prefix</source>
        <translation>prefisso intero</translation>
    </message>
    <message>
        <source>new text</source>
        <translation>testo nuovo</translation>
    </message>
    <message>
        <source>diverged</source>
        <translation>divergente</translation>
    </message>
    <message>
        <source>evicted</source>
        <translation>espulso</translation>
    </message>
    <message>
        <source>other identity</source>
        <translation>altra identità</translation>
    </message>
    <message>
        <source>short</source>
        <translation>corto</translation>
    </message>
    <message>
        <source>bypassed</source>
        <translation>saltato</translation>
    </message>
    <message>
        <source>preparing</source>
        <translation>in preparazione</translation>
    </message>
    <message>
        <source>queued</source>
        <translation>in coda</translation>
    </message>
    <message>
        <source>reading</source>
        <translation>legge</translation>
    </message>
    <message>
        <source>writing</source>
        <translation>scrive</translation>
    </message>
    <message>
        <source>done</source>
        <translation>finita</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>fallita</translation>
    </message>
    <message>
        <source>cancelled</source>
        <translation>annullata</translation>
    </message>
    <message>
        <source>on disk</source>
        <translation>su disco</translation>
    </message>
    <message>
        <source>loading</source>
        <translation>in caricamento</translation>
    </message>
    <message>
        <source>ready</source>
        <translation>pronto</translation>
    </message>
    <message>
        <source>unloading</source>
        <translation>in chiusura</translation>
    </message>
    <message>
        <source>refused</source>
        <translation>rifiutato</translation>
    </message>
    <message>
        <source>template</source>
        <translation>modello di chat</translation>
    </message>
    <message>
        <source>system</source>
        <translation>sistema</translation>
    </message>
    <message>
        <source>tool</source>
        <translation>attrezzo</translation>
    </message>
    <message>
        <source>document</source>
        <translation>documento</translation>
    </message>
    <message>
        <source>message</source>
        <translation>messaggio</translation>
    </message>
    <message>
        <source>the prompt</source>
        <translation>il prompt</translation>
    </message>
    <message>
        <source>Another text at token %1, in “%2”</source>
        <translation>Altro testo al token %1, in “%2”</translation>
    </message>
    <message>
        <source>Another text on the way</source>
        <translation>Altro testo lungo la strada</translation>
    </message>
    <message>
        <source>%1 #%2 pushed it out at %3</source>
        <translation>Espulso da %1 #%2 alle %3</translation>
    </message>
    <message>
        <source>It was here and gave way</source>
        <translation>Era qui e ha ceduto il posto</translation>
    </message>
    <message>
        <source>Cached under other %1</source>
        <translation>Conservato con altro: %1</translation>
    </message>
    <message>
        <source>Never asked before</source>
        <translation>Mai chiesto prima</translation>
    </message>
    <message>
        <source>Shorter than can be reused</source>
        <translation>Troppo corto per il riuso</translation>
    </message>
    <message>
        <source>The request asked for no reuse</source>
        <translation>La richiesta ha escluso il riuso</translation>
    </message>
    <message>
        <source>Everything before the last message was reused</source>
        <translation>Riusato tutto prima dell&apos;ultimo messaggio</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Dispositivo</translation>
    </message>
    <message>
        <source>Host</source>
        <translation>Host</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>Disco</translation>
    </message>
    <message>
        <source>Remote</source>
        <translation>Remoto</translation>
    </message>
    <message>
        <source>It lay on disk only</source>
        <translation>Era solo sul disco</translation>
    </message>
    <message>
        <source>Its copy on disk gave way</source>
        <translation>La copia sul disco ha fatto posto</translation>
    </message>
    <message>
        <source>It was found damaged</source>
        <translation>È stato trovato danneggiato</translation>
    </message>
    <message>
        <source>It was rounded, and the rounded copy is gone</source>
        <translation>È stato arrotondato e la copia arrotondata non c’è più</translation>
    </message>
</context>
<context>
    <name>larder::gui::Banner</name>
    <message>
        <source>Close</source>
        <translation>Chiudi</translation>
    </message>
</context>
<context>
    <name>larder::gui::ChatPage</name>
    <message>
        <source>&amp;New conversation</source>
        <translation>&amp;Nuova conversazione</translation>
    </message>
    <message>
        <source>The model was not loaded</source>
        <translation>Il modello non è stato caricato</translation>
    </message>
    <message>
        <source>Write a prompt below. Ask a second time and watch how much of it is reused: every turn sends the whole conversation again, and only what is new has to be read.</source>
        <translation>Scrivi un prompt qui sotto. Chiedi una seconda volta e guarda quanto viene riusato: ogni turno rimanda l&apos;intera conversazione, e si legge solo ciò che è nuovo.</translation>
    </message>
    <message>
        <source>Conversation</source>
        <translation>Conversazione</translation>
    </message>
    <message>
        <source>Your prompt. Enter sends, Shift+Enter starts a new line.</source>
        <translation>Il tuo prompt. Invio lo manda, Maiusc+Invio va a capo.</translation>
    </message>
    <message>
        <source>S&amp;top</source>
        <translation>&amp;Ferma</translation>
    </message>
    <message>
        <source>&amp;Send</source>
        <translation>&amp;Invia</translation>
    </message>
    <message>
        <source>Before the conversation</source>
        <translation>Prima della conversazione</translation>
    </message>
    <message>
        <source>&amp;Pack</source>
        <translation>&amp;Pacchetto</translation>
    </message>
    <message>
        <source>Pack</source>
        <translation>Pacchetto</translation>
    </message>
    <message>
        <source>None, my own text</source>
        <translation>Nessuno, testo mio</translation>
    </message>
    <message>
        <source>System te&amp;xt</source>
        <translation>&amp;Testo di sistema</translation>
    </message>
    <message>
        <source>Optional: what the model is told first</source>
        <translation>Facoltativo: ciò che il modello legge per primo</translation>
    </message>
    <message>
        <source>System text</source>
        <translation>Testo di sistema</translation>
    </message>
    <message>
        <source>Changing it in the middle of a conversation makes the whole prompt another one: nothing after the change can be reused.</source>
        <translation>Cambiarlo a metà conversazione rende diverso tutto il prompt: dopo la modifica non si può riusare nulla.</translation>
    </message>
    <message>
        <source>&amp;Longest answer</source>
        <translation>Risposta più &amp;lunga</translation>
    </message>
    <message>
        <source> tokens</source>
        <translation> token</translation>
    </message>
    <message>
        <source>Longest answer in tokens</source>
        <translation>Risposta più lunga in token</translation>
    </message>
    <message>
        <source>&amp;Reuse nothing (to compare)</source>
        <translation>Non &amp;riusare nulla (per confronto)</translation>
    </message>
    <message>
        <source>with %1</source>
        <translation>con %1</translation>
    </message>
    <message>
        <source>no model loaded</source>
        <translation>nessun modello caricato</translation>
    </message>
    <message>
        <source>%1 has no chat template: it continues plain text. Write how a text begins, and it goes on from there. For questions and answers load an instruct model on the Models page.</source>
        <translation>%1 non ha un modello di chat: continua testo semplice. Scrivi l&apos;inizio di un testo e proseguirà da lì. Per domande e risposte carica un modello instruct dalla pagina Modelli.</translation>
    </message>
    <message>
        <source>Loading %1</source>
        <translation>Carico %1</translation>
    </message>
    <message>
        <source>%1 read</source>
        <translation>letto %1</translation>
    </message>
    <message>
        <source>No model to talk to</source>
        <translation>Nessun modello con cui parlare</translation>
    </message>
    <message>
        <source>Load a model; then write a prompt here and watch how much of it is reused.</source>
        <translation>Carica un modello; poi scrivi qui un prompt e guarda quanto viene riusato.</translation>
    </message>
    <message>
        <source>Choose a model…</source>
        <translation>Scegli un modello…</translation>
    </message>
    <message>
        <source>Load %1</source>
        <translation>Carica %1</translation>
    </message>
    <message>
        <source>Choose another…</source>
        <translation>Scegline un altro…</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 token</translation>
    </message>
    <message>
        <source>not counted</source>
        <translation>non contati</translation>
    </message>
    <message>
        <source>%1 (%2), %3</source>
        <translation>%1 (%2), %3</translation>
    </message>
    <message>
        <source>The prompt is too long</source>
        <translation>Il prompt è troppo lungo</translation>
    </message>
    <message>
        <source>It has %1 letters; this page sends at most %2. Use the API for longer ones.</source>
        <translation>Ha %1 caratteri; questa pagina ne invia al massimo %2. Per prompt più lunghi usa l&apos;API.</translation>
    </message>
</context>
<context>
    <name>larder::gui::Closing</name>
    <message>
        <source>Close the window</source>
        <translation>Chiudi la finestra</translation>
    </message>
    <message>
        <source>Go on serving without the window?</source>
        <translation>Continuare a servire senza la finestra?</translation>
    </message>
    <message>
        <source>Stop serving?</source>
        <translation>Smettere di servire?</translation>
    </message>
    <message>
        <source>Programs use this engine at %1.</source>
        <translation>Dei programmi usano questo motore all&apos;indirizzo %1.</translation>
    </message>
    <message>
        <source>Larder can go on serving them from the tray, or stop. Your answer is kept; the settings can change it.</source>
        <translation>Larder può continuare a servirli dall&apos;area di notifica, oppure smettere. La risposta resta; si cambia nelle impostazioni.</translation>
    </message>
    <message>
        <source>This desktop has no tray, so Larder cannot go on without its window.</source>
        <translation>Questo desktop non ha un&apos;area di notifica, quindi Larder non può continuare senza la finestra.</translation>
    </message>
    <message>
        <source>&amp;Cancel</source>
        <translation>&amp;Annulla</translation>
    </message>
    <message>
        <source>&amp;Stop serving</source>
        <translation>&amp;Smetti di servire</translation>
    </message>
    <message>
        <source>&amp;Keep serving in the tray</source>
        <translation>&amp;Continua dall&apos;area di notifica</translation>
    </message>
    <message>
        <source>Larder serves at %1</source>
        <translation>Larder serve all&apos;indirizzo %1</translation>
    </message>
</context>
<context>
    <name>larder::gui::ConfirmDialog</name>
    <message>
        <source>To go on, type &amp;the name: %1</source>
        <translation>Per continuare scrivi &amp;il nome: %1</translation>
    </message>
    <message>
        <source>Name, typed to confirm</source>
        <translation>Nome, scritto per conferma</translation>
    </message>
    <message>
        <source>&amp;Cancel</source>
        <translation>&amp;Annulla</translation>
    </message>
</context>
<context>
    <name>larder::gui::ConnectCard</name>
    <message>
        <source>Connect a program</source>
        <translation>Collega un programma</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Copia</translation>
    </message>
    <message>
        <source>Copy the command</source>
        <translation>Copia il comando</translation>
    </message>
    <message>
        <source>Make a key…</source>
        <translation>Crea una chiave…</translation>
    </message>
    <message>
        <source>Hello!</source>
        <translation>Ciao!</translation>
    </message>
    <message>
        <source>The API answers on this computer only.</source>
        <translation>L&apos;API risponde solo su questo computer.</translation>
    </message>
    <message>
        <source>It says 503, “no model loaded”, until one is.</source>
        <translation>Dice 503, “no model loaded”, finché non ce n’è uno.</translation>
    </message>
    <message>
        <source>The API answers at %1.</source>
        <translation>L’API risponde su %1.</translation>
    </message>
</context>
<context>
    <name>larder::gui::Conversation</name>
    <message>
        <source>Chat</source>
        <translation>Chat</translation>
    </message>
</context>
<context>
    <name>larder::gui::DeleteDialog</name>
    <message>
        <source>Delete</source>
        <translation>Elimina</translation>
    </message>
    <message>
        <source>Delete “%1” with all below?</source>
        <translation>Eliminare “%1” con i figli?</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Annulla</translation>
    </message>
    <message>
        <source>Delete %1</source>
        <translation>Elimina %1</translation>
    </message>
    <message numerus="yes">
        <source>%1 tokens in %Ln blocks, %2. To compute them again takes about %3. Pins in it go with it.</source>
        <translation>
            <numerusform>%1 token in %Ln blocco, %2. Ricalcolarli richiede circa %3. I fissaggi al suo interno vanno via con esso.</numerusform>
            <numerusform>%1 token in %Ln blocchi, %2. Ricalcolarli richiede circa %3. I fissaggi al suo interno vanno via con esso.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>larder::gui::EntryModel</name>
    <message>
        <source>Entry</source>
        <translation>Voce</translation>
    </message>
    <message>
        <source>Tenant</source>
        <translation>Utenza</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>Bytes</source>
        <translation>Byte</translation>
    </message>
    <message>
        <source>Pinned</source>
        <translation>Fissati</translation>
    </message>
    <message>
        <source>Hits</source>
        <translation>Riusi</translation>
    </message>
    <message>
        <source>Saved</source>
        <translation>Risparmiati</translation>
    </message>
    <message>
        <source>pinned</source>
        <translation>fissato</translation>
    </message>
</context>
<context>
    <name>larder::gui::FormDialog</name>
    <message>
        <source>&amp;Cancel</source>
        <translation>&amp;Annulla</translation>
    </message>
</context>
<context>
    <name>larder::gui::JobPanel</name>
    <message>
        <source>Jobs</source>
        <translation>Lavori</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Ferma</translation>
    </message>
    <message>
        <source>%1: “%2”</source>
        <translation>%1: «%2»</translation>
    </message>
    <message>
        <source>Stop: %1</source>
        <translation>Ferma: %1</translation>
    </message>
    <message>
        <source>There was nothing to do.</source>
        <translation>Non c&apos;era nulla da fare.</translation>
    </message>
    <message>
        <source>The next request reused less than half of it:</source>
        <translation>La richiesta successiva ne ha riusato meno della metà:</translation>
    </message>
</context>
<context>
    <name>larder::gui::KeyModel</name>
    <message>
        <source>Key</source>
        <translation>Chiave</translation>
    </message>
    <message>
        <source>Label</source>
        <translation>Etichetta</translation>
    </message>
    <message>
        <source>Tenant</source>
        <translation>Utenza</translation>
    </message>
    <message>
        <source>Right</source>
        <translation>Diritto</translation>
    </message>
    <message>
        <source>Made</source>
        <translation>Creata</translation>
    </message>
    <message>
        <source>Last used</source>
        <translation>Ultimo uso</translation>
    </message>
    <message>
        <source>admin</source>
        <translation>amministra</translation>
    </message>
    <message>
        <source>use</source>
        <translation>usa</translation>
    </message>
    <message>
        <source>never</source>
        <translation>mai</translation>
    </message>
</context>
<context>
    <name>larder::gui::KeyShownDialog</name>
    <message>
        <source>The new key</source>
        <translation>La nuova chiave</translation>
    </message>
    <message>
        <source>Key “%1”: copy it now</source>
        <translation>Chiave “%1”: copiala adesso</translation>
    </message>
    <message>
        <source>&amp;Copy</source>
        <translation>&amp;Copia</translation>
    </message>
    <message>
        <source>It is shown this once. Whoever has it can use this engine as the tenant; if it is lost, revoke it and create another.</source>
        <translation>Si vede solo questa volta. Chi la possiede può usare il motore come l&apos;utenza; se va persa, revocala e creane un&apos;altra.</translation>
    </message>
    <message>
        <source>I &amp;have it: close</source>
        <translation>Ce l&apos;&amp;ho: chiudi</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Copiata</translation>
    </message>
</context>
<context>
    <name>larder::gui::LocalClient</name>
    <message>
        <source>%1 (this computer)</source>
        <translation>%1 (questo computer)</translation>
    </message>
    <message>
        <source>The engine is not running yet.</source>
        <translation>Il motore non è ancora attivo.</translation>
    </message>
</context>
<context>
    <name>larder::gui::MainWindow</name>
    <message>
        <source>Open %1</source>
        <translation>Apri %1</translation>
    </message>
    <message>
        <source>Load a model file…</source>
        <translation>Carica un file di modello…</translation>
    </message>
    <message>
        <source>Pause or go on</source>
        <translation>Pausa o continua</translation>
    </message>
    <message>
        <source>Refresh</source>
        <translation>Aggiorna</translation>
    </message>
    <message>
        <source>Search on this page</source>
        <translation>Cerca in questa pagina</translation>
    </message>
    <message>
        <source>Find a command</source>
        <translation>Trova un comando</translation>
    </message>
    <message>
        <source>Show or hide the names of the pages</source>
        <translation>Mostra o nascondi i nomi delle pagine</translation>
    </message>
    <message>
        <source>Show or hide the inspector</source>
        <translation>Mostra o nascondi i dettagli</translation>
    </message>
    <message>
        <source>Next pane</source>
        <translation>Riquadro successivo</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>Indietro</translation>
    </message>
    <message>
        <source>Forward</source>
        <translation>Avanti</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Annulla</translation>
    </message>
    <message>
        <source>Light colours</source>
        <translation>Colori chiari</translation>
    </message>
    <message>
        <source>Dark colours</source>
        <translation>Colori scuri</translation>
    </message>
    <message>
        <source>Colours of the system</source>
        <translation>Colori del sistema</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>Esci</translation>
    </message>
    <message>
        <source>Load a model</source>
        <translation>Carica un modello</translation>
    </message>
    <message>
        <source>GGUF models (*.gguf)</source>
        <translation>Modelli GGUF (*.gguf)</translation>
    </message>
    <message>
        <source>The file was not loaded</source>
        <translation>Il file non è stato caricato</translation>
    </message>
    <message>
        <source>The engine runs on %1 and cannot read a file of this computer. Load it there.</source>
        <translation>Il motore gira su %1 e non può leggere un file di questo computer. Caricalo là.</translation>
    </message>
    <message>
        <source>%1 was not loaded</source>
        <translation>%1 non è stato caricato</translation>
    </message>
</context>
<context>
    <name>larder::gui::MemoryLedger</name>
    <message>
        <source>Memory ledger</source>
        <translation>Conto della memoria</translation>
    </message>
    <message>
        <source>the parts add up to the total</source>
        <translation>la somma delle parti è il totale</translation>
    </message>
    <message>
        <source>total %1</source>
        <translation>totale %1</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>Pesi</translation>
    </message>
    <message>
        <source>Pool (%1), in use</source>
        <translation>Riserva (%1), in uso</translation>
    </message>
    <message>
        <source>Pool (%1), pinned</source>
        <translation>Riserva (%1), fissati</translation>
    </message>
    <message>
        <source>Pool (%1), kept</source>
        <translation>Riserva (%1), conservati</translation>
    </message>
    <message>
        <source>Pool (%1), free</source>
        <translation>Riserva (%1), liberi</translation>
    </message>
    <message>
        <source>KV per token</source>
        <translation>KV per token</translation>
    </message>
    <message>
        <source>No model holds memory</source>
        <translation>Nessun modello occupa memoria</translation>
    </message>
    <message>
        <source>No model holds memory.</source>
        <translation>Nessun modello occupa memoria.</translation>
    </message>
    <message>
        <source>The pool holds %1 tokens: %2 blocks of %3.</source>
        <translation>La riserva contiene %1 token: %2 blocchi da %3.</translation>
    </message>
    <message>
        <source>The process holds %1 of memory now; blocks never used yet are not in it.</source>
        <translation>Il processo occupa ora %1 di memoria; i blocchi mai usati non contano.</translation>
    </message>
</context>
<context>
    <name>larder::gui::MissCard</name>
    <message>
        <source>Show in &amp;tree</source>
        <translation>Mostra nell&apos;&amp;albero</translation>
    </message>
    <message>
        <source>&amp;Copy without prompt text</source>
        <translation>&amp;Copia senza il testo del prompt</translation>
    </message>
    <message>
        <source>why this request reused what it did and no more</source>
        <translation>perché questa richiesta ha riusato questo e non di più</translation>
    </message>
    <message>
        <source>Only ids: the text of these tokens is not kept, or may not be shown here.</source>
        <translation>Solo id: il testo di questi token non è conservato o qui non si può mostrare.</translation>
    </message>
    <message>
        <source>id %1</source>
        <translation>id %1</translation>
    </message>
    <message>
        <source>Cached</source>
        <translation>In cache</translation>
    </message>
    <message>
        <source>Cached, #%1</source>
        <translation>In cache, #%1</translation>
    </message>
    <message>
        <source>This request</source>
        <translation>Questa richiesta</translation>
    </message>
    <message>
        <source>last hit</source>
        <translation>ultimo riuso</translation>
    </message>
    <message>
        <source>evicted</source>
        <translation>espulso</translation>
    </message>
    <message>
        <source>evicted · #%1</source>
        <translation>espulso · #%1</translation>
    </message>
    <message>
        <source>asked again · #%1</source>
        <translation>richiesto di nuovo · #%1</translation>
    </message>
    <message>
        <source>left memory</source>
        <translation>uscito dalla memoria</translation>
    </message>
</context>
<context>
    <name>larder::gui::MissList</name>
    <message>
        <source>Nothing was lost in this time: every prompt reused what was there.</source>
        <translation>In questo tempo non si è perso nulla: ogni prompt ha riusato ciò che c&apos;era.</translation>
    </message>
</context>
<context>
    <name>larder::gui::MissRow</name>
    <message>
        <source>once</source>
        <translation>una volta</translation>
    </message>
</context>
<context>
    <name>larder::gui::ModelCard</name>
    <message>
        <source>Try &amp;again</source>
        <translation>&amp;Riprova</translation>
    </message>
    <message>
        <source>&amp;Cancel loading</source>
        <translation>&amp;Annulla caricamento</translation>
    </message>
    <message>
        <source>&amp;Dismiss</source>
        <translation>&amp;Chiudi</translation>
    </message>
    <message>
        <source>&amp;Unload…</source>
        <translation>&amp;Togli dalla memoria…</translation>
    </message>
    <message>
        <source>Loading %1</source>
        <translation>Carico %1</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 token</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>Pesi</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>Contesto</translation>
    </message>
    <message>
        <source>Longest request</source>
        <translation>Richiesta più lunga</translation>
    </message>
    <message>
        <source>KV per token</source>
        <translation>KV per token</translation>
    </message>
    <message>
        <source>Chat template</source>
        <translation>Modello di chat</translation>
    </message>
    <message>
        <source>yes</source>
        <translation>sì</translation>
    </message>
    <message>
        <source>no: plain text only</source>
        <translation>no: solo testo semplice</translation>
    </message>
    <message>
        <source>Reading (prefill)</source>
        <translation>Lettura (prefill)</translation>
    </message>
    <message>
        <source>tok</source>
        <translation>tok</translation>
    </message>
    <message>
        <source>Writing (decode)</source>
        <translation>Scrittura (decode)</translation>
    </message>
    <message>
        <source>Architecture</source>
        <translation>Architettura</translation>
    </message>
    <message>
        <source>Arithmetic</source>
        <translation>Aritmetica</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Dispositivo</translation>
    </message>
    <message>
        <source>%1 of the file is read and checked.</source>
        <translation>Letto e controllato il %1 del file.</translation>
    </message>
    <message>
        <source>%1 answers until then.</source>
        <translation>Fino ad allora risponde %1.</translation>
    </message>
    <message numerus="yes">
        <source>%n requests are being ended, then its memory is free.</source>
        <translation>
            <numerusform>%n richiesta sta finendo, poi la sua memoria è libera.</numerusform>
            <numerusform>%n richieste stanno finendo, poi la sua memoria è libera.</numerusform>
        </translation>
    </message>
    <message>
        <source>The file was refused.</source>
        <translation>Il file è stato rifiutato.</translation>
    </message>
    <message>
        <source>What to do: check the file at %1, or choose another GGUF file. A model that answered before still does.</source>
        <translation>Che cosa fare: controlla il file %1 o scegli un altro file GGUF. Se prima un modello rispondeva, risponde ancora.</translation>
    </message>
</context>
<context>
    <name>larder::gui::ModelTable</name>
    <message>
        <source>Model</source>
        <translation>Modello</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Stato</translation>
    </message>
    <message>
        <source>Architecture</source>
        <translation>Architettura</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>Pesi</translation>
    </message>
    <message>
        <source>File</source>
        <translation>File</translation>
    </message>
    <message>
        <source>KV per token</source>
        <translation>KV per token</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>Contesto</translation>
    </message>
    <message>
        <source>Longest request</source>
        <translation>Richiesta più lunga</translation>
    </message>
    <message>
        <source>loading, %1</source>
        <translation>in caricamento, %1</translation>
    </message>
</context>
<context>
    <name>larder::gui::ModelsPage</name>
    <message>
        <source>&amp;Load</source>
        <translation>&amp;Carica</translation>
    </message>
    <message>
        <source>Load a &amp;file…</source>
        <translation>Carica un &amp;file…</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>File</translation>
    </message>
    <message>
        <source>Model files</source>
        <translation>File dei modelli</translation>
    </message>
    <message>
        <source>no other file in the models folder</source>
        <translation>nessun altro file nella cartella dei modelli</translation>
    </message>
    <message numerus="yes">
        <source>%n in %1, and what was loaded from elsewhere</source>
        <translation>
            <numerusform>%n in %1, più quanto caricato da altrove</numerusform>
            <numerusform>%n in %1, più quanto caricato da altrove</numerusform>
        </translation>
    </message>
    <message>
        <source>no model answers</source>
        <translation>nessun modello risponde</translation>
    </message>
    <message>
        <source>%1 of %2 loaded</source>
        <translation>%1 di %2 in memoria</translation>
    </message>
    <message>
        <source>No model loaded</source>
        <translation>Nessun modello caricato</translation>
    </message>
    <message>
        <source>Requests are answered with 503 until one is.</source>
        <translation>Finché non ce n&apos;è uno, alle richieste si risponde 503.</translation>
    </message>
    <message>
        <source>Choose a model…</source>
        <translation>Scegli un modello…</translation>
    </message>
    <message>
        <source>or drop a .gguf file anywhere on this window</source>
        <translation>o trascina un file .gguf in questa finestra</translation>
    </message>
    <message>
        <source>It is used where it lies and checked before it answers.</source>
        <translation>Viene usato dove si trova e controllato prima che risponda.</translation>
    </message>
    <message>
        <source>Put .gguf files into the models folder, or drop one on this window.</source>
        <translation>Metti dei file .gguf nella cartella dei modelli o trascinane uno in questa finestra.</translation>
    </message>
    <message>
        <source>One load at a time: wait, or cancel it above.</source>
        <translation>Un caricamento alla volta: aspetta, o annullalo qui sopra.</translation>
    </message>
    <message>
        <source>%1 is in memory.</source>
        <translation>%1 è in memoria.</translation>
    </message>
    <message>
        <source>Reads %1 from disk.</source>
        <translation>Legge %1 dal disco.</translation>
    </message>
    <message>
        <source>%1 is loaded</source>
        <translation>%1 è in memoria</translation>
    </message>
    <message>
        <source>Loading %1 was cancelled</source>
        <translation>Caricamento di %1 annullato</translation>
    </message>
    <message>
        <source>%1 was not loaded</source>
        <translation>%1 non è stato caricato</translation>
    </message>
    <message>
        <source>Loading %1 was not cancelled</source>
        <translation>Il caricamento di %1 non è stato annullato</translation>
    </message>
    <message>
        <source>%1 was not put away</source>
        <translation>%1 non è stato tolto dall&apos;elenco</translation>
    </message>
    <message>
        <source>Unload %1?</source>
        <translation>Togliere %1 dalla memoria?</translation>
    </message>
    <message>
        <source>&amp;Unload</source>
        <translation>&amp;Togli dalla memoria</translation>
    </message>
    <message>
        <source>%1 was not unloaded</source>
        <translation>%1 non è stato tolto dalla memoria</translation>
    </message>
    <message>
        <source>%1 is unloaded</source>
        <translation>%1 è stato tolto dalla memoria</translation>
    </message>
    <message>
        <source>Reads %1 from disk. It answers beside %2; where there is no room for both, the idle one used longest ago is unloaded.</source>
        <translation>Legge %1 dal disco. Risponde accanto a %2; se non c&apos;è posto per entrambi, viene tolto dalla memoria quello inattivo usato da più tempo.</translation>
    </message>
    <message numerus="yes">
        <source>%1 of weights and %2 kept in the pool are given back; what has no copy on disk must be computed again. Up to %n running requests are ended.</source>
        <translation>
            <numerusform>%1 di pesi e %2 tenuti nella riserva vengono restituiti; ciò che non ha una copia su disco va ricalcolato. Viene interrotta al più %n richiesta in corso.</numerusform>
            <numerusform>%1 di pesi e %2 tenuti nella riserva vengono restituiti; ciò che non ha una copia su disco va ricalcolato. Vengono interrotte al più %n richieste in corso.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>larder::gui::NavButton</name>
    <message numerus="yes">
        <source>%n to look at</source>
        <translation>
            <numerusform>%n da vedere</numerusform>
            <numerusform>%n da vedere</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>larder::gui::Navigation</name>
    <message>
        <source>Menu</source>
        <translation>Menu</translation>
    </message>
    <message>
        <source>Watch</source>
        <translation>Osserva</translation>
    </message>
    <message>
        <source>Manage</source>
        <translation>Gestisci</translation>
    </message>
    <message>
        <source>Machine</source>
        <translation>Macchina</translation>
    </message>
    <message>
        <source>Try</source>
        <translation>Prova</translation>
    </message>
</context>
<context>
    <name>larder::gui::NeedsServerPage</name>
    <message>
        <source>This page needs the window at the server</source>
        <translation>Questa pagina richiede la finestra sul server</translation>
    </message>
    <message>
        <source>This window is attached to %1. Overview, Prefix tree and Requests work from here; for %2 open Larder on that computer.</source>
        <translation>Questa finestra è collegata a %1. Panoramica, Albero prefissi e Richieste funzionano da qui; per %2 apri Larder su quel computer.</translation>
    </message>
</context>
<context>
    <name>larder::gui::NewKeyDialog</name>
    <message>
        <source>New key for %1</source>
        <translation>Nuova chiave per %1</translation>
    </message>
    <message>
        <source>C&amp;reate key</source>
        <translation>C&amp;rea chiave</translation>
    </message>
    <message>
        <source>&amp;Admin: may see and change everything</source>
        <translation>&amp;Amministratore: può vedere e cambiare tutto</translation>
    </message>
    <message>
        <source>Label of the key</source>
        <translation>Etichetta della chiave</translation>
    </message>
    <message>
        <source>for example: kitchen tablet</source>
        <translation>per esempio: tablet in cucina</translation>
    </message>
    <message>
        <source>&amp;Label</source>
        <translation>&amp;Etichetta</translation>
    </message>
    <message>
        <source>The tenant comes from the key, never from the request. The key is shown once; Larder keeps only its hash.</source>
        <translation>L&apos;utenza si ricava dalla chiave, mai dalla richiesta. La chiave si vede una volta sola; Larder ne conserva solo l&apos;hash.</translation>
    </message>
</context>
<context>
    <name>larder::gui::NewTenantDialog</name>
    <message>
        <source>New tenant</source>
        <translation>Nuova utenza</translation>
    </message>
    <message>
        <source>C&amp;reate tenant</source>
        <translation>C&amp;rea utenza</translation>
    </message>
    <message>
        <source>Name of the tenant</source>
        <translation>Nome dell&apos;utenza</translation>
    </message>
    <message>
        <source>for example: Home Assistant</source>
        <translation>per esempio: Home Assistant</translation>
    </message>
    <message>
        <source>Limit in MiB</source>
        <translation>Limite in MiB</translation>
    </message>
    <message>
        <source> MiB</source>
        <translation> MiB</translation>
    </message>
    <message>
        <source>no limit</source>
        <translation>nessun limite</translation>
    </message>
    <message>
        <source>&amp;Name</source>
        <translation>&amp;Nome</translation>
    </message>
    <message>
        <source>&amp;Limit in the pool</source>
        <translation>&amp;Limite nella riserva</translation>
    </message>
    <message>
        <source>Letters a to z, digits, blank, dot, dash and underscore. A tenant shares no prefix with another one. What gives way when room is short is decided by the pool&apos;s policy.</source>
        <translation>Lettere dalla a alla z, cifre, spazio, punto, trattino e trattino basso. Un&apos;utenza non condivide prefissi con le altre. Che cosa cede il posto quando manca spazio lo decide la regola della riserva.</translation>
    </message>
</context>
<context>
    <name>larder::gui::OccupancyCard</name>
    <message>
        <source>Occupancy</source>
        <translation>Occupazione</translation>
    </message>
    <message>
        <source>bracket: %1 pinned</source>
        <translation>graffa: %1 fissati</translation>
    </message>
    <message>
        <source>%1: %2 of %3 used</source>
        <translation>%1: usati %2 di %3</translation>
    </message>
    <message numerus="yes">
        <source>%n more</source>
        <translation>
            <numerusform>%n altro</numerusform>
            <numerusform>%n altri</numerusform>
        </translation>
    </message>
    <message>
        <source>All</source>
        <translation>Tutte</translation>
    </message>
    <message>
        <source>Tenant</source>
        <translation>Utenza</translation>
    </message>
    <message>
        <source>Blocks</source>
        <translation>Blocchi</translation>
    </message>
    <message>
        <source>Pinned</source>
        <translation>Fissati</translation>
    </message>
    <message>
        <source>Total</source>
        <translation>Totale</translation>
    </message>
    <message numerus="yes">
        <source>%1 in %Ln blocks</source>
        <translation>
            <numerusform>%1 in %Ln blocco</numerusform>
            <numerusform>%1 in %Ln blocchi</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>larder::gui::OverviewPage</name>
    <message>
        <source>Prompt tokens reused</source>
        <translation>Token riusati</translation>
    </message>
    <message>
        <source>Prefill not computed</source>
        <translation>Calcolo evitato</translation>
    </message>
    <message>
        <source>First token, warm</source>
        <translation>Primo token, caldo</translation>
    </message>
    <message>
        <source>First token, cold</source>
        <translation>Primo token, freddo</translation>
    </message>
    <message>
        <source>Block pool</source>
        <translation>Riserva di blocchi</translation>
    </message>
    <message>
        <source>Evictions</source>
        <translation>Espulsioni</translation>
    </message>
    <message>
        <source>Where prompt tokens came from</source>
        <translation>Da dove vengono i token</translation>
    </message>
    <message>
        <source>warm p50</source>
        <translation>caldo p50</translation>
    </message>
    <message>
        <source>warm p99</source>
        <translation>caldo p99</translation>
    </message>
    <message>
        <source>cold p50</source>
        <translation>freddo p50</translation>
    </message>
    <message>
        <source>cold p99</source>
        <translation>freddo p99</translation>
    </message>
    <message>
        <source>Time to first token</source>
        <translation>Tempo al primo token</translation>
    </message>
    <message>
        <source>log scale; warm: full prefix</source>
        <translation>scala log; caldo: prefisso intero</translation>
    </message>
    <message>
        <source>Misses worth mending</source>
        <translation>Mancati riusi da sistemare</translation>
    </message>
    <message>
        <source>Reused share</source>
        <translation>Quota riusata</translation>
    </message>
    <message>
        <source>of prompt tokens asked</source>
        <translation>dei token chiesti</translation>
    </message>
    <message>
        <source>used</source>
        <translation>usati</translation>
    </message>
    <message>
        <source>pinned</source>
        <translation>fissati</translation>
    </message>
    <message>
        <source>Pool over time</source>
        <translation>Riserva nel tempo</translation>
    </message>
    <message>
        <source>of all blocks</source>
        <translation>di tutti i blocchi</translation>
    </message>
    <message>
        <source>The command is in the clipboard</source>
        <translation>Il comando è negli appunti</translation>
    </message>
    <message>
        <source>The model was not loaded</source>
        <translation>Il modello non è stato caricato</translation>
    </message>
    <message>
        <source>Model in memory: %1</source>
        <translation>Modello in memoria: %1</translation>
    </message>
    <message>
        <source>%1 lost</source>
        <translation>persi %1</translation>
    </message>
    <message>
        <source>Loading %1</source>
        <translation>Carico %1</translation>
    </message>
    <message>
        <source>%1 read</source>
        <translation>letto %1</translation>
    </message>
    <message>
        <source>No model loaded</source>
        <translation>Nessun modello caricato</translation>
    </message>
    <message>
        <source>Load a model and Larder starts to keep what it has read. After the first request the prefix tree grows here: one box for each text it will not have to read again.</source>
        <translation>Carica un modello e Larder comincia a conservare ciò che ha letto. Dopo la prima richiesta qui cresce l’albero dei prefissi: un riquadro per ogni testo che non dovrà rileggere.</translation>
    </message>
    <message>
        <source>Choose a model…</source>
        <translation>Scegli un modello…</translation>
    </message>
    <message>
        <source>Load %1</source>
        <translation>Carica %1</translation>
    </message>
    <message>
        <source>Choose another…</source>
        <translation>Scegline un altro…</translation>
    </message>
    <message>
        <source>or drop a .gguf file anywhere in this window</source>
        <translation>o trascina un file .gguf in questa finestra</translation>
    </message>
    <message>
        <source>it is used where it lies</source>
        <translation>viene usato dove si trova</translation>
    </message>
    <message>
        <source>no data yet</source>
        <translation>ancora nessun dato</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 di %2</translation>
    </message>
    <message>
        <source>at the measured rate</source>
        <translation>al ritmo misurato</translation>
    </message>
    <message numerus="yes">
        <source>p99 %1 · %n requests</source>
        <translation>
            <numerusform>p99 %1 · %n richiesta</numerusform>
            <numerusform>p99 %1 · %n richieste</numerusform>
        </translation>
    </message>
    <message>
        <source>p50</source>
        <translation>p50</translation>
    </message>
    <message>
        <source>%1 free</source>
        <translation>%1 liberi</translation>
    </message>
    <message>
        <source>pushed out of the pool</source>
        <translation>usciti dalla riserva</translation>
    </message>
    <message>
        <source>nothing has been asked yet</source>
        <translation>non è stato chiesto ancora nulla</translation>
    </message>
    <message numerus="yes">
        <source>%1 – %2 · %n requests</source>
        <translation>
            <numerusform>%1 – %2 · %n richiesta</numerusform>
            <numerusform>%1 – %2 · %n richieste</numerusform>
        </translation>
    </message>
    <message>
        <source>last values from %1</source>
        <translation>ultimi valori delle %1</translation>
    </message>
    <message>
        <source>paused at %1</source>
        <translation>in pausa dalle %1</translation>
    </message>
    <message>
        <source>Time to first token: warm p50 %1, cold p50 %2</source>
        <translation>Tempo al primo token: caldo p50 %1, freddo p50 %2</translation>
    </message>
    <message>
        <source>per %1</source>
        <translation>ogni %1</translation>
    </message>
    <message>
        <source>reused %1 · hatched: computed %2</source>
        <translation>riusati %1 · tratteggio: calcolati %2</translation>
    </message>
    <message>
        <source>Prompt tokens: %1 reused, %2 computed</source>
        <translation>Token: %1 riusati, %2 calcolati</translation>
    </message>
    <message>
        <source>s</source>
        <translation>s</translation>
    </message>
    <message>
        <source>ms</source>
        <translation>ms</translation>
    </message>
    <message numerus="yes">
        <source>blocks</source>
        <comment>after a count</comment>
        <translation>
            <numerusform>blocco</numerusform>
            <numerusform>blocchi</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Evictions: %Ln blocks</source>
        <translation>
            <numerusform>Espulsioni: %Ln blocco</numerusform>
            <numerusform>Espulsioni: %Ln blocchi</numerusform>
        </translation>
    </message>
    <message>
        <source>blocks pushed out</source>
        <translation>blocchi usciti</translation>
    </message>
</context>
<context>
    <name>larder::gui::PackModel</name>
    <message>
        <source>Pack</source>
        <translation>Pacchetto</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Lingua</translation>
    </message>
    <message>
        <source>Version</source>
        <translation>Versione</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Stato</translation>
    </message>
    <message>
        <source>pinned</source>
        <translation>fissato</translation>
    </message>
    <message>
        <source>warm</source>
        <translation>caldo</translation>
    </message>
    <message>
        <source>not read yet</source>
        <translation>non ancora letto</translation>
    </message>
</context>
<context>
    <name>larder::gui::PacksPage</name>
    <message>
        <source>Text</source>
        <translation>Testo</translation>
    </message>
    <message>
        <source>Packs</source>
        <translation>Pacchetti</translation>
    </message>
    <message>
        <source>No packs here</source>
        <translation>Nessun pacchetto</translation>
    </message>
    <message>
        <source>The packs come with Larder; this engine found none beside its program.</source>
        <translation>I pacchetti arrivano con Larder; questo motore non ne ha trovati accanto al programma.</translation>
    </message>
    <message>
        <source>Text of the pack, read only</source>
        <translation>Testo del pacchetto, sola lettura</translation>
    </message>
    <message>
        <source>What it takes</source>
        <translation>Quanto costa</translation>
    </message>
    <message>
        <source>Keep it ready</source>
        <translation>Tienilo pronto</translation>
    </message>
    <message>
        <source>The pack is being read</source>
        <translation>Il pacchetto viene letto</translation>
    </message>
    <message numerus="yes">
        <source>%n packs</source>
        <translation>
            <numerusform>%n pacchetto</numerusform>
            <numerusform>%n pacchetti</numerusform>
        </translation>
    </message>
    <message>
        <source> · %1 warm · %2 pinned</source>
        <translation> · caldi: %1 · fissati: %2</translation>
    </message>
    <message>
        <source>%1, read only</source>
        <translation>%1, sola lettura</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Lingua</translation>
    </message>
    <message>
        <source>Italian</source>
        <translation>Italiano</translation>
    </message>
    <message>
        <source>English</source>
        <translation>Inglese</translation>
    </message>
    <message>
        <source>To compute</source>
        <translation>Da calcolare</translation>
    </message>
    <message>
        <source>nothing: kept</source>
        <translation>nulla: conservato</translation>
    </message>
    <message>
        <source>In the pool</source>
        <translation>Nella riserva</translation>
    </message>
    <message numerus="yes">
        <source>%1, %n blocks</source>
        <translation>
            <numerusform>%1, %n blocco</numerusform>
            <numerusform>%1, %n blocchi</numerusform>
        </translation>
    </message>
    <message>
        <source>Version</source>
        <translation>Versione</translation>
    </message>
    <message>
        <source>Measured at</source>
        <translation>Ritmo misurato</translation>
    </message>
    <message>
        <source>tok</source>
        <translation>tok</translation>
    </message>
    <message>
        <source>Load a model first: a pack is counted and kept for the model that reads it.</source>
        <translation>Prima carica un modello: un pacchetto si conta e si conserva per il modello che lo legge.</translation>
    </message>
    <message>
        <source>It is kept: a request that begins with it starts at its first new token. Pinned, it stays under pressure.</source>
        <translation>È conservato: una richiesta che comincia così parte dal suo primo token nuovo. Se è fissato, resta anche quando manca spazio.</translation>
    </message>
    <message>
        <source>Its tokens are counted when it is warmed for the first time with this model.</source>
        <translation>I suoi token si contano la prima volta che lo si scalda con questo modello.</translation>
    </message>
    <message>
        <source>Warming reads %1 tokens and keeps %2. No rate has been measured yet.</source>
        <translation>Per scaldarlo si leggono %1 token e si conservano %2. Nessun ritmo è stato ancora misurato.</translation>
    </message>
    <message>
        <source>Warming takes at most %1 (%2 tokens at the measured rate) and keeps %3.</source>
        <translation>Scaldarlo richiede al massimo %1 (%2 token al ritmo misurato) e conserva %3.</translation>
    </message>
    <message>
        <source>Pins hold %1 of a budget of %2.</source>
        <translation>I fissaggi occupano %1 su un limite di %2.</translation>
    </message>
    <message>
        <source>Warm</source>
        <translation>Caldo</translation>
    </message>
    <message>
        <source>&amp;Warm now</source>
        <translation>&amp;Scalda ora</translation>
    </message>
    <message>
        <source>Un&amp;pin</source>
        <translation>S&amp;blocca</translation>
    </message>
    <message>
        <source>&amp;Pin</source>
        <translation>&amp;Fissa</translation>
    </message>
    <message>
        <source>Warm and &amp;pin</source>
        <translation>Scalda e &amp;fissa</translation>
    </message>
    <message>
        <source>The pack %1 was not pinned</source>
        <translation>Il pacchetto %1 non è stato fissato</translation>
    </message>
    <message>
        <source>The pack %1 was not warmed</source>
        <translation>Il pacchetto %1 non è stato scaldato</translation>
    </message>
    <message>
        <source>Pinned the pack %1: %2</source>
        <translation>Pacchetto %1 fissato: %2</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Annulla</translation>
    </message>
    <message>
        <source>%1 is warm: %2 tokens are kept</source>
        <translation>%1 è caldo: %2 token conservati</translation>
    </message>
    <message>
        <source>pack %1</source>
        <translation>pacchetto %1</translation>
    </message>
    <message>
        <source>The pack %1 was not unpinned</source>
        <translation>Il pacchetto %1 non è stato sbloccato</translation>
    </message>
    <message>
        <source>Unpinned the pack %1; it stays warm until room is needed</source>
        <translation>Pacchetto %1 sbloccato; resta caldo finché non serve spazio</translation>
    </message>
</context>
<context>
    <name>larder::gui::PictureRun</name>
    <message>
        <source>cannot make the folder %1</source>
        <translation>impossibile creare la cartella %1</translation>
    </message>
    <message>
        <source>The pantry list of the house: flour, rice, beans, oil, salt, honey, tomatoes. </source>
        <translation>La dispensa di casa: farina, riso, fagioli, olio, sale, miele, pomodori. </translation>
    </message>
    <message>
        <source>What can I cook tonight?</source>
        <translation>Che cosa posso cucinare stasera?</translation>
    </message>
    <message>
        <source>Which of these keeps longest?</source>
        <translation>Quale di questi dura di più?</translation>
    </message>
    <message>
        <source>Write a shopping list for Saturday.</source>
        <translation>Scrivi la lista della spesa per sabato.</translation>
    </message>
    <message>
        <source>How should honey be stored?</source>
        <translation>Come si conserva il miele?</translation>
    </message>
    <message>
        <source>It is 22:40. </source>
        <translation>Sono le 22:40. </translation>
    </message>
    <message>
        <source>It is 22:41. </source>
        <translation>Sono le 22:41. </translation>
    </message>
    <message>
        <source>for the pictures</source>
        <translation>per le immagini</translation>
    </message>
</context>
<context>
    <name>larder::gui::PinModel</name>
    <message>
        <source>Pinned</source>
        <translation>Fissati</translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>Motivo</translation>
    </message>
    <message>
        <source>Tenant</source>
        <translation>Utenza</translation>
    </message>
    <message>
        <source>Blocks</source>
        <translation>Blocchi</translation>
    </message>
    <message>
        <source>Bytes</source>
        <translation>Byte</translation>
    </message>
    <message>
        <source>Since</source>
        <translation>Dal</translation>
    </message>
    <message>
        <source>Until</source>
        <translation>Fino al</translation>
    </message>
    <message>
        <source>unpinned</source>
        <translation>sblocco</translation>
    </message>
</context>
<context>
    <name>larder::gui::PrefixTreeView</name>
    <message>
        <source>Prefix tree</source>
        <translation>Albero prefissi</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 token</translation>
    </message>
    <message>
        <source>pinned</source>
        <translation>fissato</translation>
    </message>
    <message numerus="yes">
        <source>%n hits</source>
        <translation>
            <numerusform>%n riuso</numerusform>
            <numerusform>%n riusi</numerusform>
        </translation>
    </message>
    <message>
        <source>last hit %1 ago</source>
        <translation>ultimo riuso %1 fa</translation>
    </message>
    <message>
        <source>%1 to compute</source>
        <translation>%1 da calcolare</translation>
    </message>
    <message>
        <source>Zoom in</source>
        <translation>Ingrandisci</translation>
    </message>
    <message>
        <source>Whole tree</source>
        <translation>Tutto l&apos;albero</translation>
    </message>
    <message>
        <source>Pin or unpin</source>
        <translation>Fissa o sblocca</translation>
    </message>
    <message>
        <source>Delete with all below…</source>
        <translation>Elimina con i figli…</translation>
    </message>
    <message numerus="yes">
        <source>%n smaller ones; double-click to see them</source>
        <translation>
            <numerusform>%n più piccolo; doppio clic per vederlo</numerusform>
            <numerusform>%n più piccoli; doppio clic per vederli</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 tok · %2</source>
        <translation>%1 tok · %2</translation>
    </message>
    <message>
        <source>%1 tok</source>
        <translation>%1 tok</translation>
    </message>
    <message numerus="yes">
        <source>%n more</source>
        <translation>
            <numerusform>%n altro</numerusform>
            <numerusform>%n altri</numerusform>
        </translation>
    </message>
    <message>
        <source>Move or copy…</source>
        <translation>Sposta o copia…</translation>
    </message>
    <message>
        <source>Verify copies…</source>
        <translation>Verifica le copie…</translation>
    </message>
    <message>
        <source>Compress, or compute exactly again…</source>
        <translation>Comprimi o ricalcola esatto…</translation>
    </message>
    <message>
        <source>%1 of them copied in memory</source>
        <translation>di cui %1 copiati in memoria</translation>
    </message>
</context>
<context>
    <name>larder::gui::PromptStrip</name>
    <message>
        <source>Prompt of %1 tokens, %2 reused: %3</source>
        <translation>Prompt di %1 token, %2 riusati: %3</translation>
    </message>
</context>
<context>
    <name>larder::gui::RemoteClient</name>
    <message>
        <source>Prompts are sent from the window on %1 or over its API.</source>
        <translation>I prompt si inviano dalla finestra su %1 o con la sua API.</translation>
    </message>
    <message>
        <source>Tokens are counted in the window on %1.</source>
        <translation>I token si contano nella finestra su %1.</translation>
    </message>
</context>
<context>
    <name>larder::gui::RemoteWorker</name>
    <message>
        <source>What it answers is not a snapshot of Larder, or one of another version.</source>
        <translation>Ciò che risponde non è uno stato di Larder, o è di un’altra versione.</translation>
    </message>
    <message>
        <source>Nothing listens there: is larderd running?</source>
        <translation>Lì non ascolta nessuno: larderd è in esecuzione?</translation>
    </message>
    <message>
        <source>No computer of the name %1 is known.</source>
        <translation>Non si conosce nessun computer di nome %1.</translation>
    </message>
    <message>
        <source>It closed the connection.</source>
        <translation>Ha chiuso la connessione.</translation>
    </message>
    <message>
        <source>Its answer is larger than %1 MiB.</source>
        <translation>La sua risposta supera %1 MiB.</translation>
    </message>
    <message>
        <source>Nothing came for %1 s.</source>
        <translation>Non è arrivato nulla per %1 s.</translation>
    </message>
    <message>
        <source>It wants a key: start the window with --key-file and a file that holds one.</source>
        <translation>Vuole una chiave: avvia la finestra con --key-file e un file che la contiene.</translation>
    </message>
    <message>
        <source>It does not know the key: start the window with --key-file and a key of that engine.</source>
        <translation>Non conosce la chiave: avvia la finestra con --key-file e una chiave di quel motore.</translation>
    </message>
    <message>
        <source>No Larder answers at this address.</source>
        <translation>A questo indirizzo non risponde nessun Larder.</translation>
    </message>
    <message>
        <source>%1 Trying again in %2 s.</source>
        <translation>%1 Riprovo tra %2 s.</translation>
    </message>
    <message>
        <source>An attached window cannot do this: open Larder on %1.</source>
        <translation>Una finestra collegata non può farlo: apri Larder su %1.</translation>
    </message>
</context>
<context>
    <name>larder::gui::RequestModel</name>
    <message>
        <source>Request</source>
        <translation>Richiesta</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Ora</translation>
    </message>
    <message>
        <source>Tenant</source>
        <translation>Utenza</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modello</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Stato</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>Prompt</translation>
    </message>
    <message>
        <source>Reused</source>
        <translation>Riusati</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>Esito</translation>
    </message>
    <message>
        <source>First token</source>
        <translation>1º token</translation>
    </message>
    <message>
        <source>Total</source>
        <translation>Totale</translation>
    </message>
    <message>
        <source>Saved</source>
        <translation>Risparmiati</translation>
    </message>
</context>
<context>
    <name>larder::gui::RequestsPage</name>
    <message>
        <source>tenant: verdict: ttft&gt; prompt&gt;</source>
        <translation>tenant: verdict: ttft&gt; prompt&gt;</translation>
    </message>
    <message>
        <source>Filter requests</source>
        <translation>Filtra le richieste</translation>
    </message>
    <message>
        <source>tenant:home  verdict:evicted  state:failed  model:smol  #5127  ttft&gt;2s  prompt&gt;4000  reused&lt;50%</source>
        <translation>tenant:home  verdict:evicted  state:failed  model:smol  #5127  ttft&gt;2s  prompt&gt;4000  reused&lt;50%</translation>
    </message>
    <message>
        <source>Requests</source>
        <translation>Richieste</translation>
    </message>
    <message>
        <source>No request of this time range meets the filter. Esc in the filter shows all.</source>
        <translation>Nessuna richiesta di questo intervallo passa il filtro. Esc nel filtro le mostra tutte.</translation>
    </message>
    <message>
        <source>Copied without prompt text</source>
        <translation>Copiato senza il testo del prompt</translation>
    </message>
    <message>
        <source>No requests yet</source>
        <translation>Ancora nessuna richiesta</translation>
    </message>
    <message>
        <source>Send a prompt, from the Chat page or from a program that uses the API. Each request then stands here with what it reused, how long its first token took, and why.</source>
        <translation>Invia un prompt, dalla pagina Chat o da un programma che usa l&apos;API. Ogni richiesta comparirà qui con ciò che ha riusato, il tempo del primo token e il perché.</translation>
    </message>
    <message>
        <source>Load a model first. Then each request stands here with what it reused, how long its first token took, and why.</source>
        <translation>Prima carica un modello. Poi ogni richiesta comparirà qui con ciò che ha riusato, il tempo del primo token e il perché.</translation>
    </message>
    <message>
        <source>Open Chat</source>
        <translation>Apri Chat</translation>
    </message>
    <message>
        <source>Choose a model…</source>
        <translation>Scegli un modello…</translation>
    </message>
    <message>
        <source>first token after %1</source>
        <translation>primo token dopo %1</translation>
    </message>
    <message>
        <source>Prepare</source>
        <translation>Preparazione</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>Coda</translation>
    </message>
    <message>
        <source>Look up</source>
        <translation>Ricerca</translation>
    </message>
    <message>
        <source>Prefill</source>
        <translation>Prefill</translation>
    </message>
    <message>
        <source>First token</source>
        <translation>Primo token</translation>
    </message>
    <message>
        <source>Hatched: lost to the miss, %1. Without it the first token came after %2.</source>
        <translation>Tratteggio: persi per il mancato riuso, %1. Senza, il primo token sarebbe arrivato dopo %2.</translation>
    </message>
    <message>
        <source>tok</source>
        <translation>tok</translation>
    </message>
    <message>
        <source>Nothing lost to a miss. Then %1 tokens were written at %2.</source>
        <translation>Nulla è andato perso. Poi sono stati scritti %1 token a %2.</translation>
    </message>
    <message>
        <source>No token yet.</source>
        <translation>Ancora nessun token.</translation>
    </message>
    <message>
        <source>last values from %1</source>
        <translation>ultimi valori delle %1</translation>
    </message>
    <message>
        <source>paused at %1</source>
        <translation>in pausa dalle %1</translation>
    </message>
    <message>
        <source>%1 shown of %2 kept · %3 running, %4 queued</source>
        <translation>%1 mostrate di %2 conservate · %3 in corso, %4 in coda</translation>
    </message>
</context>
<context>
    <name>larder::gui::SettingEditor</name>
    <message>
        <source>Back to the default</source>
        <translation>Torna al predefinito</translation>
    </message>
    <message>
        <source>Back to the default of %1</source>
        <translation>Torna al predefinito di %1</translation>
    </message>
    <message>
        <source>after a restart</source>
        <translation>dopo un riavvio</translation>
    </message>
    <message>
        <source>set by --set for this run</source>
        <translation>fissato da --set per questa sessione</translation>
    </message>
</context>
<context>
    <name>larder::gui::SettingsPage</name>
    <message>
        <source>Search settings</source>
        <translation>Cerca nelle impostazioni</translation>
    </message>
    <message>
        <source>Reading the settings…</source>
        <translation>Leggo le impostazioni…</translation>
    </message>
    <message>
        <source>%1 of %2 shown</source>
        <translation>%1 di %2</translation>
    </message>
    <message numerus="yes">
        <source>%1 of %2 shown · %n wait for a restart</source>
        <translation>
            <numerusform>%1 di %2 · %n attende un riavvio</numerusform>
            <numerusform>%1 di %2 · %n attendono un riavvio</numerusform>
        </translation>
    </message>
    <message>
        <source>No setting has “%1” in its name or its help. Esc in the search shows all.</source>
        <translation>Nessuna impostazione ha “%1” nel nome o nella spiegazione. Esc nella ricerca le mostra tutte.</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Annulla</translation>
    </message>
    <message>
        <source>%1: %2 after a restart</source>
        <translation>%1: %2 dopo un riavvio</translation>
    </message>
    <message>
        <source>%1: now %2</source>
        <translation>%1: ora %2</translation>
    </message>
</context>
<context>
    <name>larder::gui::StatusStrip</name>
    <message>
        <source>Engine</source>
        <translation>Motore</translation>
    </message>
    <message>
        <source>Decode rate</source>
        <translation>Ritmo di decodifica</translation>
    </message>
    <message>
        <source>Reuse</source>
        <translation>Riuso</translation>
    </message>
    <message>
        <source>Pool</source>
        <translation>Riserva</translation>
    </message>
    <message>
        <source>Requests</source>
        <translation>Richieste</translation>
    </message>
    <message>
        <source>Dropped events</source>
        <translation>Eventi persi</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>Avvio…</translation>
    </message>
    <message>
        <source>%1 not reachable</source>
        <translation>%1 non raggiungibile</translation>
    </message>
    <message>
        <source>Engine not running</source>
        <translation>Motore fermo</translation>
    </message>
    <message>
        <source>Engine running</source>
        <translation>Motore attivo</translation>
    </message>
    <message>
        <source>No model loaded</source>
        <translation>Nessun modello caricato</translation>
    </message>
    <message>
        <source>decode %1</source>
        <translation>decodifica %1</translation>
    </message>
    <message>
        <source>tok</source>
        <translation>tok</translation>
    </message>
    <message>
        <source>reused %1</source>
        <translation>riuso %1</translation>
    </message>
    <message>
        <source>pool %1</source>
        <translation>riserva %1</translation>
    </message>
    <message>
        <source>%1 running, %2 queued</source>
        <translation>%1 in corso, %2 in coda</translation>
    </message>
    <message>
        <source>events dropped %1</source>
        <translation>eventi persi %1</translation>
    </message>
    <message>
        <source>this window: %1 % of one core</source>
        <translation>questa finestra: %1 % di un core</translation>
    </message>
    <message>
        <source>Connecting to %1…</source>
        <translation>Collegamento a %1…</translation>
    </message>
</context>
<context>
    <name>larder::gui::SystemTray</name>
    <message>
        <source>Open Larder</source>
        <translation>Apri Larder</translation>
    </message>
    <message>
        <source>Stop serving and quit</source>
        <translation>Smetti di servire ed esci</translation>
    </message>
</context>
<context>
    <name>larder::gui::TenantModel</name>
    <message>
        <source>Tenant</source>
        <translation>Utenza</translation>
    </message>
    <message>
        <source>Bytes</source>
        <translation>Byte</translation>
    </message>
    <message>
        <source>Blocks</source>
        <translation>Blocchi</translation>
    </message>
    <message>
        <source>Pinned</source>
        <translation>Fissati</translation>
    </message>
    <message>
        <source>Limit</source>
        <translation>Limite</translation>
    </message>
    <message>
        <source>Requests</source>
        <translation>Richieste</translation>
    </message>
    <message>
        <source>Reused</source>
        <translation>Riusati</translation>
    </message>
    <message>
        <source>Running</source>
        <translation>In corso</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>Chiavi</translation>
    </message>
    <message>
        <source>none</source>
        <translation>nessuno</translation>
    </message>
</context>
<context>
    <name>larder::gui::TenantsPage</name>
    <message>
        <source>New &amp;tenant…</source>
        <translation>Nuova &amp;utenza…</translation>
    </message>
    <message>
        <source>New &amp;key…</source>
        <translation>Nuova &amp;chiave…</translation>
    </message>
    <message>
        <source>&amp;Revoke…</source>
        <translation>&amp;Revoca…</translation>
    </message>
    <message>
        <source>&amp;Delete tenant…</source>
        <translation>&amp;Elimina utenza…</translation>
    </message>
    <message>
        <source>Tenants</source>
        <translation>Utenze</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>Chiavi</translation>
    </message>
    <message>
        <source>the tenant comes from the key, never from the request</source>
        <translation>l&apos;utenza si ricava dalla chiave, mai dalla richiesta</translation>
    </message>
    <message>
        <source>Keys of the tenant</source>
        <translation>Chiavi dell&apos;utenza</translation>
    </message>
    <message numerus="yes">
        <source>%n tenants</source>
        <translation>
            <numerusform>%n utenza</numerusform>
            <numerusform>%n utenze</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n keys</source>
        <translation>
            <numerusform>%n chiave</numerusform>
            <numerusform>%n chiavi</numerusform>
        </translation>
    </message>
    <message>
        <source>No key yet: nothing can reach this tenant until one is created.</source>
        <translation>Ancora nessuna chiave: finché non ne crei una, nessuno raggiunge questa utenza.</translation>
    </message>
    <message>
        <source>A key is shown once, when it is created; Larder keeps only its hash. “Never” means: not since the engine started.</source>
        <translation>Una chiave si vede una volta, quando si crea; Larder ne conserva solo l&apos;hash. “Mai” vuol dire: non dall&apos;avvio del motore.</translation>
    </message>
    <message>
        <source>%1 of its limit of %2</source>
        <translation>%1 del suo limite di %2</translation>
    </message>
    <message>
        <source>%1 of the pool of %2</source>
        <translation>%1 della riserva di %2</translation>
    </message>
    <message>
        <source>end of the bar: %1 · bracket: pinned</source>
        <translation>fine della barra: %1 · graffa: fissati</translation>
    </message>
    <message>
        <source>its limit</source>
        <translation>il suo limite</translation>
    </message>
    <message>
        <source>the whole pool</source>
        <translation>l&apos;intera riserva</translation>
    </message>
    <message>
        <source>end of the bar: %1</source>
        <translation>fine della barra: %1</translation>
    </message>
    <message>
        <source>%1 of %2, %3</source>
        <translation>%1 di %2, %3</translation>
    </message>
    <message>
        <source>Kept</source>
        <translation>Conservati</translation>
    </message>
    <message>
        <source>Blocks</source>
        <translation>Blocchi</translation>
    </message>
    <message>
        <source>Pinned</source>
        <translation>Fissati</translation>
    </message>
    <message>
        <source>Limit</source>
        <translation>Limite</translation>
    </message>
    <message>
        <source>none</source>
        <translation>nessuno</translation>
    </message>
    <message>
        <source>Prompt tokens reused</source>
        <translation>Token del prompt riusati</translation>
    </message>
    <message>
        <source>Requests</source>
        <translation>Richieste</translation>
    </message>
    <message>
        <source>Running</source>
        <translation>In corso</translation>
    </message>
    <message>
        <source>Queued</source>
        <translation>In coda</translation>
    </message>
    <message>
        <source>Created the tenant %1; it needs a key next</source>
        <translation>Utenza %1 creata; ora le serve una chiave</translation>
    </message>
    <message>
        <source>It has not been used since the engine started.</source>
        <translation>Non è stata usata dall&apos;avvio del motore.</translation>
    </message>
    <message>
        <source>It was last used %1 ago.</source>
        <translation>L&apos;ultimo uso risale a %1 fa.</translation>
    </message>
    <message>
        <source>Revoke the key %1?</source>
        <translation>Revocare la chiave %1?</translation>
    </message>
    <message>
        <source>Programs that use it are refused from now on. What they had computed stays with the tenant.</source>
        <translation>I programmi che la usano vengono respinti da subito. Ciò che avevano calcolato resta all&apos;utenza.</translation>
    </message>
    <message>
        <source>&amp;Revoke</source>
        <translation>&amp;Revoca</translation>
    </message>
    <message>
        <source>Revoked the key %1</source>
        <translation>Chiave %1 revocata</translation>
    </message>
    <message>
        <source>The key %1 was not revoked</source>
        <translation>La chiave %1 non è stata revocata</translation>
    </message>
    <message>
        <source>%1 of it is pinned; the pins go too.</source>
        <translation>Di questi, %1 sono fissati; se ne vanno anche i fissaggi.</translation>
    </message>
    <message numerus="yes">
        <source>%n keys stop working.</source>
        <translation>
            <numerusform>%n chiave smette di funzionare.</numerusform>
            <numerusform>%n chiavi smettono di funzionare.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n requests running or queued are ended.</source>
        <translation>
            <numerusform>%n richiesta in corso o in coda viene chiusa.</numerusform>
            <numerusform>%n richieste in corso o in coda vengono chiuse.</numerusform>
        </translation>
    </message>
    <message>
        <source>Delete the tenant %1?</source>
        <translation>Eliminare l&apos;utenza %1?</translation>
    </message>
    <message>
        <source>&amp;Delete %1</source>
        <translation>&amp;Elimina %1</translation>
    </message>
    <message>
        <source>Deleted the tenant %1</source>
        <translation>Utenza %1 eliminata</translation>
    </message>
    <message>
        <source>The tenant %1 was not deleted</source>
        <translation>L&apos;utenza %1 non è stata eliminata</translation>
    </message>
    <message numerus="yes">
        <source>%1 in %Ln blocks is freed and nothing of it can be found again.</source>
        <translation>
            <numerusform>Si liberano %1 in %Ln blocco e nulla si potrà più ritrovare.</numerusform>
            <numerusform>Si liberano %1 in %Ln blocchi e nulla si potrà più ritrovare.</numerusform>
        </translation>
    </message>
    <message>
        <source>May reuse what the same model computed on another device or &amp;instruction set</source>
        <translation>Può riusare ciò che lo stesso modello ha calcolato su un altro dispositivo o con altre &amp;istruzioni</translation>
    </message>
    <message>
        <source>Close to what this one would compute and not equal bit for bit; each answer from it says so</source>
        <translation>Vicino a ciò che calcolerebbe questo, e non uguale bit per bit; ogni risposta che ne viene lo dice</translation>
    </message>
    <message>
        <source>The tenant %1 was not changed</source>
        <translation>Il tenant %1 non è stato cambiato</translation>
    </message>
</context>
<context>
    <name>larder::gui::TierCard</name>
    <message>
        <source>%1: %2 used, %3</source>
        <translation>%1: usati %2, %3</translation>
    </message>
</context>
<context>
    <name>larder::gui::TiersPage</name>
    <message>
        <source>last values from %1</source>
        <translation>ultimi valori delle %1</translation>
    </message>
    <message>
        <source>a block may lie in memory and on disk at the same time</source>
        <translation>un blocco può stare insieme in memoria e sul disco</translation>
    </message>
    <message>
        <source>No tier holds anything yet</source>
        <translation>Nessun livello contiene ancora nulla</translation>
    </message>
    <message>
        <source>With a model loaded, what it computes is kept in memory, and a copy of it on disk.</source>
        <translation>Con un modello caricato, ciò che calcola si tiene in memoria, con una copia sul disco.</translation>
    </message>
    <message>
        <source>Choose a model…</source>
        <translation>Scegli un modello…</translation>
    </message>
</context>
<context>
    <name>larder::gui::ToolStrip</name>
    <message>
        <source>Time range</source>
        <translation>Intervallo</translation>
    </message>
    <message>
        <source>Live 5 m</source>
        <translation>Live 5 m</translation>
    </message>
    <message>
        <source>30 m</source>
        <translation>30 m</translation>
    </message>
    <message>
        <source>1 h</source>
        <translation>1 h</translation>
    </message>
    <message>
        <source>Find or run a command</source>
        <translation>Cerca un comando</translation>
    </message>
    <message>
        <source>Engine: %1</source>
        <translation>Motore: %1</translation>
    </message>
    <message>
        <source>The engine runs in another process</source>
        <translation>Il motore gira in un altro processo</translation>
    </message>
    <message>
        <source>The engine runs in this window</source>
        <translation>Il motore gira in questa finestra</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Annulla</translation>
    </message>
    <message>
        <source>Undo the last pin or unpin (Ctrl+Z)</source>
        <translation>Annulla l&apos;ultimo fissaggio o sblocco (Ctrl+Z)</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Annulla</translation>
    </message>
    <message>
        <source>Cancel loading</source>
        <translation>Annulla il caricamento</translation>
    </message>
    <message>
        <source>Loading %1</source>
        <translation>Carico %1</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>Continua</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pausa</translation>
    </message>
</context>
<context>
    <name>larder::gui::TreeInspector</name>
    <message>
        <source>Inspector</source>
        <translation>Dettagli</translation>
    </message>
    <message>
        <source>What you can do</source>
        <translation>Cosa puoi fare</translation>
    </message>
    <message>
        <source>Pin</source>
        <translation>Fissa</translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation>Sblocca</translation>
    </message>
    <message>
        <source>Delete with all below…</source>
        <translation>Elimina con i figli…</translation>
    </message>
    <message>
        <source>Del</source>
        <translation>Canc</translation>
    </message>
    <message>
        <source>Last requests that made or used it</source>
        <translation>Ultime richieste che l&apos;hanno scritta o usata</translation>
    </message>
    <message>
        <source>Nothing selected</source>
        <translation>Nessuna selezione</translation>
    </message>
    <message>
        <source>Select a box in the tree to see what it holds.</source>
        <translation>Scegli un riquadro dell&apos;albero.</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>Blocks</source>
        <translation>Blocchi</translation>
    </message>
    <message>
        <source>Bytes</source>
        <translation>Byte</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>Tratti</translation>
    </message>
    <message>
        <source>To compute</source>
        <translation>Da calcolare</translation>
    </message>
    <message>
        <source>pinned</source>
        <translation>fissato</translation>
    </message>
    <message>
        <source>rounded to %1</source>
        <translation>arrotondato a %1</translation>
    </message>
    <message>
        <source>growing</source>
        <translation>in crescita</translation>
    </message>
    <message numerus="yes">
        <source>%1 · %n blocks</source>
        <translation>
            <numerusform>%1 · %n blocco</numerusform>
            <numerusform>%1 · %n blocchi</numerusform>
        </translation>
    </message>
    <message>
        <source>From position</source>
        <translation>Dalla posizione</translation>
    </message>
    <message>
        <source>Where</source>
        <translation>Dove</translation>
    </message>
    <message>
        <source>With all below</source>
        <translation>Con i figli</translation>
    </message>
    <message>
        <source>%1 tokens · %2</source>
        <translation>%1 token · %2</translation>
    </message>
    <message>
        <source>Hits</source>
        <translation>Riusi</translation>
    </message>
    <message>
        <source>none yet</source>
        <translation>ancora nessuno</translation>
    </message>
    <message>
        <source>%1, last %2 ago</source>
        <translation>%1, ultimo %2 fa</translation>
    </message>
    <message>
        <source>To compute again</source>
        <translation>Da ricalcolare</translation>
    </message>
    <message>
        <source>In use</source>
        <translation>In uso</translation>
    </message>
    <message>
        <source>by a running request</source>
        <translation>da una richiesta in corso</translation>
    </message>
    <message>
        <source>no</source>
        <translation>no</translation>
    </message>
    <message>
        <source>takes %1 of %2 pin budget left</source>
        <translation>usa %1 di %2 ancora fissabili</translation>
    </message>
    <message>
        <source>lets it give way under pressure</source>
        <translation>potrà cedere il posto quando serve</translation>
    </message>
    <message>
        <source>%1, %2 to compute again</source>
        <translation>%1, %2 da ricalcolare</translation>
    </message>
    <message>
        <source>made it</source>
        <translation>l&apos;ha scritta</translation>
    </message>
    <message>
        <source>left it</source>
        <translation>se ne stacca</translation>
    </message>
    <message>
        <source>Move or copy…</source>
        <translation>Sposta o copia…</translation>
    </message>
    <message>
        <source>Verify copies…</source>
        <translation>Verifica le copie…</translation>
    </message>
    <message>
        <source>the disk tier is not used</source>
        <translation>il livello su disco non è in uso</translation>
    </message>
    <message>
        <source>%1 in memory, %2 on disk</source>
        <translation>%1 in memoria, %2 su disco</translation>
    </message>
    <message>
        <source>reads %1 from disk</source>
        <translation>legge %1 dal disco</translation>
    </message>
    <message>
        <source>Move to &amp;disk…</source>
        <translation>Sposta su &amp;disco…</translation>
    </message>
    <message>
        <source>&amp;Copy to disk…</source>
        <translation>&amp;Copia su disco…</translation>
    </message>
    <message>
        <source>Move to &amp;memory…</source>
        <translation>Sposta in &amp;memoria…</translation>
    </message>
    <message>
        <source>C&amp;opy to memory…</source>
        <translation>C&amp;opia in memoria…</translation>
    </message>
    <message>
        <source>Compress…</source>
        <translation>Comprimi…</translation>
    </message>
    <message>
        <source>Compute exactly again…</source>
        <translation>Ricalcola esatto…</translation>
    </message>
    <message>
        <source>smaller on disk, but rounded</source>
        <translation>più piccolo su disco, arrotondato</translation>
    </message>
    <message>
        <source>%1 to compute</source>
        <translation>%1 da calcolare</translation>
    </message>
    <message>
        <source>To int&amp;8: about half the bytes…</source>
        <translation>In int&amp;8: circa metà dei byte…</translation>
    </message>
    <message>
        <source>To int&amp;4: about a third, and more is lost…</source>
        <translation>In int&amp;4: circa un terzo, e si perde di più…</translation>
    </message>
    <message>
        <source>computed elsewhere</source>
        <translation>calcolato altrove</translation>
    </message>
    <message>
        <source>Copies in memory</source>
        <translation>Copie in memoria</translation>
    </message>
    <message numerus="yes">
        <source>%1 of %Ln blocks on disk · %2</source>
        <translation>
            <numerusform>%1 di %Ln blocco su disco · %2</numerusform>
            <numerusform>%1 di %Ln blocchi su disco · %2</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>larder::gui::TreeLegend</name>
    <message>
        <source>pinned</source>
        <translation>fissato</translation>
    </message>
    <message>
        <source>hit just now</source>
        <translation>appena riusato</translation>
    </message>
    <message>
        <source>gone just now</source>
        <translation>appena espulso</translation>
    </message>
    <message>
        <source>paler: older</source>
        <translation>pallido: vecchio</translation>
    </message>
    <message>
        <source>with a copy in memory</source>
        <translation>con copia in memoria</translation>
    </message>
</context>
<context>
    <name>larder::gui::TreeModel</name>
    <message>
        <source>Outline</source>
        <translation>Elenco</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>Blocks</source>
        <translation>Blocchi</translation>
    </message>
    <message>
        <source>Bytes</source>
        <translation>Byte</translation>
    </message>
    <message>
        <source>Tier</source>
        <translation>Livello</translation>
    </message>
    <message>
        <source>Hits</source>
        <translation>Riusi</translation>
    </message>
    <message>
        <source>Last hit</source>
        <translation>Ultimo</translation>
    </message>
    <message>
        <source>To compute</source>
        <translation>Da calcolare</translation>
    </message>
    <message>
        <source>mixed</source>
        <translation>misto</translation>
    </message>
</context>
<context>
    <name>larder::gui::TreePage</name>
    <message>
        <source>View</source>
        <translation>Vista</translation>
    </message>
    <message>
        <source>Icicle</source>
        <translation>Diagramma</translation>
    </message>
    <message>
        <source>Outline</source>
        <translation>Elenco</translation>
    </message>
    <message>
        <source>Search labels</source>
        <translation>Cerca</translation>
    </message>
    <message>
        <source>Outline of the prefix tree</source>
        <translation>Elenco dell&apos;albero dei prefissi</translation>
    </message>
    <message>
        <source>Width: tokens</source>
        <translation>Larghezza: token</translation>
    </message>
    <message>
        <source>Width: bytes</source>
        <translation>Larghezza: byte</translation>
    </message>
    <message>
        <source>Width: time to compute</source>
        <translation>Larghezza: tempo di calcolo</translation>
    </message>
    <message>
        <source>Width of a box</source>
        <translation>Larghezza di un riquadro</translation>
    </message>
    <message>
        <source>Join boxes narrower than</source>
        <translation>Unisci i riquadri più stretti di</translation>
    </message>
    <message>
        <source>join below</source>
        <translation>unisci sotto</translation>
    </message>
    <message>
        <source>No model loaded</source>
        <translation>Nessun modello caricato</translation>
    </message>
    <message>
        <source>Nothing is kept yet</source>
        <translation>Ancora nulla in dispensa</translation>
    </message>
    <message>
        <source>Load a model; the tree grows with the first request.</source>
        <translation>Carica un modello; l&apos;albero cresce con la prima richiesta.</translation>
    </message>
    <message>
        <source>After the first request this shows one box for each text that %1 will not have to read again.</source>
        <translation>Dopo la prima richiesta qui appare un riquadro per ogni testo che %1 non dovrà rileggere.</translation>
    </message>
    <message>
        <source>Choose a model…</source>
        <translation>Scegli un modello…</translation>
    </message>
    <message>
        <source>Send a test request</source>
        <translation>Invia una richiesta di prova</translation>
    </message>
    <message>
        <source>showing %1 of %2 runs</source>
        <translation>mostrati %1 di %2 tratti</translation>
    </message>
    <message>
        <source> · %1 outside the view</source>
        <translation> · %1 fuori vista</translation>
    </message>
    <message>
        <source>width of a box = its own blocks and all below</source>
        <translation>larghezza: sé e sottostanti</translation>
    </message>
    <message numerus="yes">
        <source>%n matches · %1 tokens · %2</source>
        <translation>
            <numerusform>%n trovato · %1 token · %2</numerusform>
            <numerusform>%n trovati · %1 token · %2</numerusform>
        </translation>
    </message>
    <message>
        <source>Esc: whole tree</source>
        <translation>Esc: tutto l&apos;albero</translation>
    </message>
    <message>
        <source>pinned in the window</source>
        <translation>fissato dalla finestra</translation>
    </message>
    <message>
        <source>“%1” was not pinned</source>
        <translation>“%1” non è stato fissato</translation>
    </message>
    <message>
        <source>Pinned “%1”: %2</source>
        <translation>Fissato “%1”: %2</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Annulla</translation>
    </message>
    <message>
        <source>“%1” was not unpinned</source>
        <translation>“%1” non è stato sbloccato</translation>
    </message>
    <message>
        <source>Unpinned “%1”</source>
        <translation>Sbloccato “%1”</translation>
    </message>
    <message>
        <source>“%1” cannot be deleted now</source>
        <translation>“%1” non può essere eliminato ora</translation>
    </message>
    <message>
        <source>Deleted “%1”: %2 free</source>
        <translation>Eliminato “%1”: %2 liberi</translation>
    </message>
    <message>
        <source>“%1” was not deleted</source>
        <translation>“%1” non è stato eliminato</translation>
    </message>
    <message>
        <source>Which three things should be in every larder?</source>
        <translation>Quali tre cose devono esserci in ogni dispensa?</translation>
    </message>
    <message>
        <source>You answer in one short sentence.</source>
        <translation>Rispondi con una frase breve.</translation>
    </message>
    <message>
        <source>Test request</source>
        <translation>Richiesta di prova</translation>
    </message>
    <message>
        <source>The test request failed</source>
        <translation>La richiesta di prova è fallita</translation>
    </message>
    <message numerus="yes">
        <source> · %n smaller ones joined as %1</source>
        <translation>
            <numerusform> · %n più piccolo unito in %1</numerusform>
            <numerusform> · %n più piccoli uniti in %1</numerusform>
        </translation>
    </message>
    <message>
        <source>There is nothing to do.</source>
        <translation>Non c&apos;è nulla da fare.</translation>
    </message>
    <message>
        <source>It goes on behind the requests, with at most a fifth of one core, and can be stopped.</source>
        <translation>Procede dietro le richieste, con al massimo un quinto di un core, e si può fermare.</translation>
    </message>
    <message>
        <source>%1: “%2” with all below?</source>
        <translation>%1: «%2» con i figli?</translation>
    </message>
    <message>
        <source>%1: “%2” was not begun</source>
        <translation>%1: «%2» non è stato avviato</translation>
    </message>
    <message>
        <source>The job was not stopped</source>
        <translation>Il lavoro non è stato fermato</translation>
    </message>
    <message>
        <source>“%1” cannot be moved, verified or compressed now</source>
        <translation>«%1» non si può spostare, verificare o comprimere ora</translation>
    </message>
    <message>
        <source>It is computed as a request is, between the others, and can be stopped.</source>
        <translation>Viene calcolato come una richiesta, fra le altre, e si può fermare.</translation>
    </message>
    <message>
        <source>Answers that reuse it are then close to the exact ones and not bit for bit the same; each says so. Computing it exactly again undoes this.</source>
        <translation>Le risposte che lo riusano sono poi vicine a quelle esatte, non identiche bit per bit, e ognuna lo dice. Ricalcolarlo esatto annulla tutto.</translation>
    </message>
</context>
<context>
    <name>larder::gui::TurnCard</name>
    <message>
        <source>%1 of %2 prompt tokens reused</source>
        <translation>%1 di %2 token del prompt riusati</translation>
    </message>
    <message>
        <source>%1 · tier %2</source>
        <translation>%1 · livello %2</translation>
    </message>
    <message>
        <source>Why</source>
        <translation>Perché</translation>
    </message>
    <message>
        <source>Open this request and see why it reused what it did</source>
        <translation>Apri questa richiesta e vedi perché ha riusato quel tanto</translation>
    </message>
    <message>
        <source>Reading the prompt…</source>
        <translation>Leggo il prompt…</translation>
    </message>
    <message>
        <source>first token after %1</source>
        <translation>primo token dopo %1</translation>
    </message>
    <message>
        <source>%1 tokens at %2</source>
        <translation>%1 token a %2</translation>
    </message>
    <message>
        <source>tok</source>
        <translation>tok</translation>
    </message>
    <message>
        <source>saved %1</source>
        <translation>%1 risparmiati</translation>
    </message>
    <message>
        <source>cut at the limit you set</source>
        <translation>tagliata al limite che hai scelto</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>fermata</translation>
    </message>
    <message>
        <source>Why request #%1 reused what it did</source>
        <translation>Perché la richiesta #%1 ha riusato quel tanto</translation>
    </message>
    <message>
        <source>copies in memory</source>
        <translation>copie in memoria</translation>
    </message>
</context>
</TS>
