<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name>JobWords</name>
    <message numerus="yes">
        <source>%Ln blocks · %1</source>
        <translation>
            <numerusform>%Ln block · %1</numerusform>
            <numerusform>%Ln blocks · %1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>MissText</name>
    <message numerus="yes">
        <source>A prompt of %n tokens is shorter than can be reused; the last token is always computed.</source>
        <translation>
            <numerusform>A prompt of %n token is shorter than can be reused; the last token is always computed.</numerusform>
            <numerusform>A prompt of %n tokens is shorter than can be reused; the last token is always computed.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>larder::gui::DeleteDialog</name>
    <message numerus="yes">
        <source>%1 tokens in %Ln blocks, %2. To compute them again takes about %3. Pins in it go with it.</source>
        <translation>
            <numerusform>%1 tokens in %Ln block, %2. To compute them again takes about %3. Pins in it go with it.</numerusform>
            <numerusform>%1 tokens in %Ln blocks, %2. To compute them again takes about %3. Pins in it go with it.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>larder::gui::ModelCard</name>
    <message numerus="yes">
        <source>%n requests are being ended, then its memory is free.</source>
        <translation>
            <numerusform>%n request is being ended, then its memory is free.</numerusform>
            <numerusform>%n requests are being ended, then its memory is free.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>larder::gui::ModelsPage</name>
    <message numerus="yes">
        <source>%n in %1, and what was loaded from elsewhere</source>
        <translation>
            <numerusform>%n in %1, and what was loaded from elsewhere</numerusform>
            <numerusform>%n in %1, and what was loaded from elsewhere</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 of weights and %2 kept in the pool are given back; what has no copy on disk must be computed again. Up to %n running requests are ended.</source>
        <translation>
            <numerusform>%1 of weights and %2 kept in the pool are given back; what has no copy on disk must be computed again. Up to %n running request is ended.</numerusform>
            <numerusform>%1 of weights and %2 kept in the pool are given back; what has no copy on disk must be computed again. Up to %n running requests are ended.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>larder::gui::NavButton</name>
    <message numerus="yes">
        <source>%n to look at</source>
        <translation>
            <numerusform>%n to look at</numerusform>
            <numerusform>%n to look at</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>larder::gui::OccupancyCard</name>
    <message numerus="yes">
        <source>%n more</source>
        <translation>
            <numerusform>%n more</numerusform>
            <numerusform>%n more</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 in %Ln blocks</source>
        <translation>
            <numerusform>%1 in %Ln block</numerusform>
            <numerusform>%1 in %Ln blocks</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>larder::gui::OverviewPage</name>
    <message numerus="yes">
        <source>p99 %1 · %n requests</source>
        <translation>
            <numerusform>p99 %1 · %n request</numerusform>
            <numerusform>p99 %1 · %n requests</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 – %2 · %n requests</source>
        <translation>
            <numerusform>%1 – %2 · %n request</numerusform>
            <numerusform>%1 – %2 · %n requests</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>blocks</source>
        <comment>after a count</comment>
        <translation>
            <numerusform>block</numerusform>
            <numerusform>blocks</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Evictions: %Ln blocks</source>
        <translation>
            <numerusform>Evictions: %Ln block</numerusform>
            <numerusform>Evictions: %Ln blocks</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>larder::gui::PacksPage</name>
    <message numerus="yes">
        <source>%n packs</source>
        <translation>
            <numerusform>%n pack</numerusform>
            <numerusform>%n packs</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1, %n blocks</source>
        <translation>
            <numerusform>%1, %n block</numerusform>
            <numerusform>%1, %n blocks</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>larder::gui::PrefixTreeView</name>
    <message numerus="yes">
        <source>%n hits</source>
        <translation>
            <numerusform>%n hit</numerusform>
            <numerusform>%n hits</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n smaller ones; double-click to see them</source>
        <translation>
            <numerusform>%n smaller one; double-click to see it</numerusform>
            <numerusform>%n smaller ones; double-click to see them</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more</source>
        <translation>
            <numerusform>%n more</numerusform>
            <numerusform>%n more</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>larder::gui::SettingsPage</name>
    <message numerus="yes">
        <source>%1 of %2 shown · %n wait for a restart</source>
        <translation>
            <numerusform>%1 of %2 shown · %n waits for a restart</numerusform>
            <numerusform>%1 of %2 shown · %n wait for a restart</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>larder::gui::TenantsPage</name>
    <message numerus="yes">
        <source>%n tenants</source>
        <translation>
            <numerusform>%n tenant</numerusform>
            <numerusform>%n tenants</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n keys</source>
        <translation>
            <numerusform>%n key</numerusform>
            <numerusform>%n keys</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n keys stop working.</source>
        <translation>
            <numerusform>%n key stops working.</numerusform>
            <numerusform>%n keys stop working.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n requests running or queued are ended.</source>
        <translation>
            <numerusform>%n request running or queued is ended.</numerusform>
            <numerusform>%n requests running or queued are ended.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 in %Ln blocks is freed and nothing of it can be found again.</source>
        <translation>
            <numerusform>%1 in %Ln block is freed and nothing of it can be found again.</numerusform>
            <numerusform>%1 in %Ln blocks is freed and nothing of it can be found again.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>larder::gui::TreeInspector</name>
    <message numerus="yes">
        <source>%1 · %n blocks</source>
        <translation>
            <numerusform>%1 · %n block</numerusform>
            <numerusform>%1 · %n blocks</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 of %Ln blocks on disk · %2</source>
        <translation>
            <numerusform>%1 of %Ln block on disk · %2</numerusform>
            <numerusform>%1 of %Ln blocks on disk · %2</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>larder::gui::TreePage</name>
    <message numerus="yes">
        <source>%n matches · %1 tokens · %2</source>
        <translation>
            <numerusform>%n match · %1 tokens · %2</numerusform>
            <numerusform>%n matches · %1 tokens · %2</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source> · %n smaller ones joined as %1</source>
        <translation>
            <numerusform> · %n smaller one joined as %1</numerusform>
            <numerusform> · %n smaller ones joined as %1</numerusform>
        </translation>
    </message>
</context>
</TS>
