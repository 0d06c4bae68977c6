func @shapes(){
"golden.shape"(){value=[#corert.shape<18446744073709551615>,#corert.shape<>]}:()->()
tfrt.return
}