<?php
$words = [];
for ($i = 0; $i < 300000; $i++) $words[] = md5((string)$i);
sort($words);
$groups = [];
foreach ($words as $word) $groups[substr($word, 0, 3)][] = $word;
echo count($groups), "\n";
